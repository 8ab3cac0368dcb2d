"""How languages write ages and the names of months, as data.

All words are in lower case. A word is the beginning of its forms: `minut` stands for `minuten`,
`minutos` and `minutami`. A word of one letter, or before "!", is only itself.
"""

from __future__ import annotations

import unicodedata

# An age: its form as a regular expression, in which {} is the number and the unit, then the words
# for second, minute, hour, day, week, month and year. Forms marked with ? may lack the number one.
_AGES = """
{} ago: second sec s, minute min m, hour hr h, day d, week wk w, month mo, year yr y
vor {}: sek, min, stunde std, tag, woche, monat, jahr
il y a {}: sec s, min, heure h, jour j, semaine sem, mois m, an a
hace {}: seg s, min, hora h, día dia d, semana sem, mes m, año a
(?:há|faz) {}(?: atrás)?: seg s, min, hora h, dia d, semana sem, mês mes, ano
{} atrás: seg s, min, hora h, dia d, semana sem, mês mes, ano
{} fa: sec s, min, ora ore h, giorn g gg, settiman sett, mes, ann
{} geleden: sec, min, uur, dag dgn, week weken, maand, jaar
fa {}: seg s, min, hor h, dia dies, setm, mes, any
hai {}: seg, min, hora, día, semana, mes, ano
(?:for )?{} siden: sek, min, time t, dag dage døgn d, uge uke u, måned md, år
for {} sidan: sek, min, time, dag døgn, veke, månad, år
för {} se(?:da)?n: sek s, min, timm tim, dag d, veck v, månad mån, år
fyrir {}(?: síðan)?: sek, mín, klukku klst, dag dög, vik, mán, ár
?{} sitten: sek s, min, tun t, päiv pv, viik vk, kuu kk, vuo v
{} eest: sek, min, tun t, päev p, näd, kuu, aasta a
?pirms {}: sek, min, stund st, dien d, ned, mēn, gad g
?prieš {}: sek, min, val, dien d, sav, mėn, met m
?{} temu: sek, min, godz, dzień dni, tydz tyg, mies, rok lat
?před {}: sek s, min, hod h, dn, týd, měs, rok let r l
?pred {}: sek s, min, hod ur h, dň dn d, týž ted, mes, rok let r
?prije {}: sek s, min, sat h, dan, tjed tj, mjes mj, god g
?пре {}: сек, мин, сат ч, дан д, нед, мес, год
?pre {}: sek, min, sat, dan, ned, mes, god
acum {}: sec, min, or h, zi, săpt sapt, lun, an
{} ezelőtt: másodperc mp, perc p, ór, nap, hét hét, hónap, év
{}: , perce, órája, napja, hete, hónapja, éve
?преди {}: сек, мин, час ч, ден дни, седм, мес м, год г
?{} назад: сек, мин, час ч, день дн, нед, мес, год лет г л
?{} тому(?: назад)?: сек с, хв, год, день дн, тиж, міс, рік рок р
πριν(?: από)? {}: δευτ, λεπ, ώρ ώ, ημ μέρ, εβδ, μήν, έτ χρόν
{} önce: saniye sn, dakika dk, saat sa, gün, hafta hf, ay, yıl
{}(?: yang)? lalu: detik dtk saat, menit minit mnt min!, jam, hari h, minggu mgg mgu, bulan bln, tahun thn
{} trước: giây, phút, giờ, ngày, tuần, tháng, năm
?(?:قبل|منذ) {}(?: واحدة?)?: ثاني ثوان, دقيق دقائق, ساع, يوم أيام, أسبوع أسابيع, شهر أشهر, سن عام أعوام
?לפני {}: שניות שנייה שניה שנ׳, דק, שע, יום ימים יומיים, שבוע שב, חודש, שנ
{} پیش: ثانیه, دقیقه, ساعت, روز, هفته, ماه, سال
{} पहले: सेकंड से, मिनट मि, घंट घं, दिन, सप्ताह हफ़्त, माह महीन, वर्ष साल
{} ?ที่(?:ผ่านมา|แล้ว): วินาที, นาที, ชั่วโมง ชม, วัน, สัปดาห์, เดือน, ปี
{} ?[前전]: 秒 秒钟 秒鐘 초, 分 分钟 分鐘 분, 小时 小時 個小時 个小时 時間 鐘頭 钟头 시간, 天 日 일, 周 週 星期 个星期 個星期 週間 주, \
个月 個月 か月 ヶ月 ヵ月 カ月 ケ月 ヶ月間 개월 달, 年 년
"""
_ONES = """
a an one ein eine einem einer einen un una une uno um uma en et ett een één eén einn eina egy jeden
jednu jednou jedną один одну одна един една ena eno yksi üks una
"""
_DAYS = {
    0: """today now just·now hoy heute aujourd'hui oggi hoje vandaag avui i·dag idag tänään täna šodien
    šiandien dzisiaj dziś dnes danes danas astăzi azi ma днес сегодня сьогодні данас σήμερα bugün hari·ini
    hôm·nay اليوم היום امروز आज วันนี้ 今天 今日 오늘""",
    1: """yesterday gestern hier ayer ieri ontem onte gisteren ahir i·går igår eilen eile vakar wczoraj včera
    včeraj jučer juče tegnap вчера вчора јуче χθες χτες dün kemarin semalam hôm·qua أمس אתמול دیروز कल
    เมื่อวาน เมื่อวานนี้ 昨天 昨日 어제 í·gær""",
    2: """vorgestern avant-hier anteayer antes·de·ayer anteontem l'altro·ieri eergisteren abans-d'ahir i·forgårs
    toissapäivänä przedwczoraj předevčírem predvčerom prekjučer alaltăieri tegnapelőtt позавчера позавчора
    προχθές kemarin·lusa hôm·kia שלשום 前天 一昨日 그저께 그제""",
}
_MONTHS = (
    "ene|gen|ian|jaa|jan|jän|led|oca|sau|sij|sty|tam|urt|xan|ιαν|січ|янв|яну|јан|ינו|ينا|जन|ม.ค|มกร",
    "feb|fev|fév|hel|lut|ots|vas|vee|vel|úno|şub|φεβ|лют|феб|фев|פבר|فبر|फ़र|ก.พ|กุม",
    "bře|kov|maa|mac|mar|mrt|mrz|már|mär|ožu|μάρ|μαρ|бер|мар|מרץ|مار|मार|มี.ค|มีน",
    "abr|api|apr|avr|bal|dub|huh|kwi|nis|tra|ápr|απρ|апр|кві|אפר|أبر|अप्|เม.ย|เมษ",
    "geg|kvě|mag|mai|maj|may|maí|mei|máj|svi|tou|μάι|μαι|μαΐ|май|мая|мај|тра|מאי|ماي|मई|พ.ค|พฤษ",
    (
        "bir|cze|eka|giu|haz|iun|juin|jun|juun|jún|jūn|kes|lipa|lipn|xuñ|červen|červn|čvn|ιουν|ιούν|июн|чер"
        "|юни|јун|יונ|يون|जून|มิ.ย|มิถ"
    ),
    (
        "hei|iul|juil|jul|juul|júl|jūl|lie|lip|lug|srpa|srpnj|tem|uzt|xul|červenc|červene|čvc|ιουλ|ιούλ|июл"
        "|лип|юли|јул|יול|يول|जुल|ก.ค|กรก"
    ),
    "abu|ag|aou|aoû|aug|avg|ağu|elo|kol|ogo|rugp|sie|srp|ágú|αυγ|αύγ|авг|сер|אוג|أغس|अग|ส.ค|สิง",
    "eyl|ira|rugs|ruj|sep|set|syy|sze|wrz|zář|σεπ|вер|сен|сеп|ספט|سبت|सित|ก.ย|กัน",
    "eki|lok|oct|okt|out|ott|paź|spa|urr|říj|οκτ|жов|окт|אוק|أكت|अक्|ต.ค|ตุล",
    "aza|kas|lap|lis|marr|noi|nov|nóv|stu|νοέ|νοε|лис|нов|ное|ноя|נוב|نوف|नव|พ.ย|พฤศ",
    "abe|ara|dec|des|det|dez|dic|dis|déc|gru|jou|pro|δεκ|гру|дек|дец|דצמ|ديس|दिस|ธ.ค|ธัน",
)


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


MONTHS = tuple(map(_normalize, _MONTHS))
"""Beginnings of the names of the months, separated by "|"."""

ONES = frozenset(_normalize(_ONES).split())
"""Words for the number one."""
DAYS_AGO = {
    word.replace("·", " "): days
    for days, words in _DAYS.items()
    for word in _normalize(words).split()
}
"""Days by word, such as 1 for "yesterday"."""


def age_forms() -> list[tuple[str, list[list[str]], bool]]:
    """Return the form, the words of each unit, and whether the number may be missing."""
    rows = [row.rpartition(": ") for row in _normalize(_AGES).strip().splitlines()]
    return [
        (form.removeprefix("?"), [unit.split() for unit in units.split(",")], form[0] == "?")
        for form, _, units in rows
    ]
