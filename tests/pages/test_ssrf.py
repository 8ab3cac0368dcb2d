# ruff: noqa: RUF001  # look-alikes are what the guard is for
from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtools._internal.pages.ssrf import Policy, check, check_addresses, fault_of, sites
from webtools._internal.text.urls import parse
from webtools.errors import InputError

CLOSED = Policy()
BY_US = "blocked by webtools"

# What must never be fetched, whatever its spelling; `tests/test_direct.py` fetches each of these
# and looks at the sockets.
PRIVATE_URLS = [
    # loopback
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/",
    "http://127.255.255.254/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]:8080/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "http://localhost/",
    "http://LOCALHOST:8080/",
    "http://LocalHost./",
    "http://admin.localhost/",
    "http://localhost.localdomain/",
    # odd spellings of loopback
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0X7F.0X0.0X0.0X1/",
    "http://127.0.0.1./",
    "http://127.0.0.1../",
    "http://127.000.000.001/",
    "http://127.0.0.0x1/",
    "http://127.0x1/",
    "http://4294967295/",
    "http://1.1.1.1.127.1/",
    "http://256.256.256.256/",
    "http://127.0.0.1%20/",
    "http://127%2e0%2e0%2e1/",
    "http://%31%32%37.0.0.1/",
    "http://loc%61lhost/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://127｡0｡0｡1/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://lo\u00adcalhost/",
    "http://localhost\u200b/",
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/",
    # private networks
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://192.168.1.254:8443/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://[fc00::1]/",
    "http://[fd12:3456:789a::1]/",
    "http://intranet/",
    "http://printer.local/",
    "http://wiki.corp/",
    "http://nas.lan/",
    "http://router.home.arpa/",
    "http://db.internal/",
    # metadata services
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://[fd00:ec2::254]/",
    "http://metadata.google.internal/",
    "http://metadata/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    # link-local, unspecified, multicast, broadcast, reserved, documentation, benchmark
    "http://169.254.0.1/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://0.0.0.0/",
    "http://0/",
    "http://0.1.2.3/",
    "http://[::]/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://[ff02::1]/",
    "http://255.255.255.255/",
    "http://240.0.0.1/",
    "http://192.0.2.1/",
    "http://198.51.100.7/",
    "http://203.0.113.9/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://192.88.99.1/",
    "http://192.0.0.8/",
    "http://[fec0::1]/",
    "http://[2001::1]/",
    "http://[100::1]/",
    "http://[4000::1]/",
    # IPv4 inside IPv6
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:ffff:10.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::10.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:c0a8:101::1]/",
    "http://[2001:0:53aa:64c:0:5efe:7f00:1]/",
    "http://[2606:4700::5efe:10.0.0.1]/",
    "http://[2606:4700::200:5efe:192.168.0.1]/",
    # other ways to reach somewhere else
    "http://user@127.0.0.1/",
    "http://example.com@127.0.0.1/",
    "http://example.com:80@127.0.0.1/",
    "http://user:password@example.com/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1\\@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://[::1]@example.com/",
    "http://[v1.fe]/",
    "http://[127.0.0.1]/",
    "http://[1:2:3]/",
    "http://[:::1]/",
    "http://exa／mple.com/",
    "http://127.0.0.1／.example.com/",
    "http:///127.0.0.1/",
    "http://127.0.0.1\t/",
    "http://127.0.0.1\n.example.com/",
    "http://example.com:22/",
    "http://example.com:25/",
    "http://example.com:0/",
    "http://example.com:6667/",
    "http://example.com:99999/",
    "http://.example.com/",
    "http://example..com/",
    "http://example.com./",
    "http://exa mple.com/",
    "http://-/",
    "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 130 + "example/",
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "dict://127.0.0.1:11211/",
    "javascript:alert(1)",
    "data:text/html,hello",
    "//127.0.0.1/",
    "127.0.0.1",
    "",
]


@pytest.mark.parametrize("url", PRIVATE_URLS)
def test_private_urls_are_refused_before_any_look_up(url: str) -> None:
    with pytest.raises(InputError, match=BY_US) as caught:
        check(parse(url), CLOSED)
    assert str(caught.value).isascii()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://EXAMPLE.com:443/A?b#c", "https://example.com/A?b"),
        ("http://example.com:80/", "http://example.com/"),
        ("http://example.com:8080/x", "http://example.com:8080/x"),
        ("http://example.com:/x", "http://example.com/x"),
        ("https://sub_domain.example.com/", "https://sub_domain.example.com/"),
        ("https://bücher.example/straße?q=ü", "https://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%BC"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://日本語.jp/", "https://xn--wgv71a119e.jp/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://172.32.0.1/", "http://172.32.0.1/"),
        ("http://100.128.0.1/", "http://100.128.0.1/"),
        ("http://[2606:4700:4700::1111]:8443/", "http://[2606:4700:4700::1111]:8443/"),
        ("http://[2606:4700:4700:0:0:0:0:1111]/", "http://[2606:4700:4700::1111]/"),
        ("http://[64:ff9b::8.8.8.8]/", "http://[64:ff9b::808:808]/"),
        ("https://example.com/a%20b?c=%2e", "https://example.com/a%20b?c=%2e"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
        (
            "https://example.com/?next=http://127.0.0.1/",
            "https://example.com/?next=http://127.0.0.1/",
        ),
        ("https://127.0.0.1.nip.io/", "https://127.0.0.1.nip.io/"),
        ("https://123.example/", "https://123.example/"),
    ],
)
def test_a_public_url_is_sent_as_its_parts(url: str, sent: str) -> None:
    target = parse(url)
    check(target, CLOSED)
    assert target.url == sent


def test_the_refusal_has_the_option_that_opens_a_site() -> None:
    for url, site in (("http://10.1.2.3:8080/", "10.1.2.3:8080"), ("https://wiki/", "wiki:443")):
        with pytest.raises(InputError) as caught:
            check(parse(url), CLOSED)
        assert str(caught.value).endswith(f'allowPrivateHosts: ["{site}"]')


def test_the_refusal_of_a_closed_address_has_no_option() -> None:
    for url in ("http://169.254.169.254/", "http://0.0.0.0/", "http://127.1/", "http://a:25/"):
        with pytest.raises(InputError) as caught:
            check(parse(url), CLOSED)
        assert "allowPrivateHosts" not in str(caught.value)


# --- addresses of names ------------------------------------------------------------------------

NAMED = parse("https://example.com/")


def test_public_addresses_keep_their_order() -> None:
    result = ["2606:4700::1", "93.184.216.34", "8.8.8.8"]
    assert check_addresses(NAMED, result, CLOSED) == tuple(result)


@pytest.mark.parametrize(
    "private", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "::ffff:8.8.8.8"]
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_refused_address_refuses_the_whole_name(private: str, place: int) -> None:
    result = ["93.184.216.34", "2606:4700::1"]
    result.insert(place, private)
    with pytest.raises(InputError, match='blocked by webtools.*"example.com"'):
        check_addresses(NAMED, result, CLOSED)


def test_a_host_name_as_address_is_refused() -> None:
    with pytest.raises(InputError, match="localhost"):
        check_addresses(NAMED, ["localhost"], CLOSED)


def test_fake_addresses_need_the_option() -> None:
    with pytest.raises(InputError, match="allowFakeIps"):
        check_addresses(NAMED, ["198.18.0.5"], CLOSED)
    assert check_addresses(NAMED, ["198.18.0.5"], Policy(fake_ips=True)) == ("198.18.0.5",)
    with pytest.raises(InputError):
        check_addresses(NAMED, ["10.0.0.5"], Policy(fake_ips=True))


@given(st.ip_addresses())
def test_no_address_that_python_calls_private_passes(address: object) -> None:
    known = ip_address(str(address))
    if not known.is_global or known.is_multicast or known.is_reserved:
        assert fault_of(known) is not None or str(known).startswith(("192.0.0.", "64:ff9b:"))


@given(st.ip_addresses(v=4))
def test_an_address_within_ipv6_is_judged_as_itself(address: object) -> None:
    inner = ip_address(str(address))
    for text in (f"64:ff9b::{inner}", f"2606:4700::5efe:{inner}"):
        assert (fault_of(ip_address(text)) is None) == (fault_of(inner) is None)
    assert fault_of(ip_address(f"::ffff:{inner}")) is not None


# --- what an operator opens --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("intranet.example", {"intranet.example:80", "intranet.example:443"}),
        ("Intranet.Example:8080", {"intranet.example:8080"}),
        ("127.0.0.1:5000", {"127.0.0.1:5000"}),
        ("[::1]:5000", {"[::1]:5000"}),
        ("[::1]", {"[::1]:80", "[::1]:443"}),
        ("localhost", {"localhost:80", "localhost:443"}),
        ("localhost:22", {"localhost:22"}),
    ],
)
def test_an_entry_is_exactly_a_host_and_its_port_or_the_usual_ones(
    entry: str, expected: set[str]
) -> None:
    assert sites(entry) == expected


@pytest.mark.parametrize(
    "entry",
    [
        *("", " ", "*", "*.example", "http://a.example", "a.example/", "a.example/path", "a?b"),
        *("10.0.0.0/8", "user@a.example", "127.1", "0x7f.1", "a.example:x", "a.example:99999"),
        *("a.example:0", "a b", "[::1", "::1", "a#b", "a.example:80/"),
    ],
)
def test_an_entry_that_is_a_pattern_or_odd_is_refused(entry: str) -> None:
    with pytest.raises(InputError):
        sites(entry)


def opened(*entries: str) -> Policy:
    return Policy(frozenset(site for entry in entries for site in sites(entry)))


def test_an_opened_site_may_be_private_local_and_on_any_port() -> None:
    for url, entry in (
        ("http://127.0.0.1:5000/x", "127.0.0.1:5000"),
        ("http://localhost:81/", "localhost:81"),
        ("https://wiki/", "wiki"),
        ("http://[fd00::1]:8080/", "[fd00::1]:8080"),
    ):
        check(parse(url), opened(entry))
    target = parse("https://wiki.corp/")
    policy = opened("wiki.corp")
    check(target, policy)
    assert check_addresses(target, ["10.0.0.1", "fd00::5"], policy) == ("10.0.0.1", "fd00::5")


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:5001/", "http://localhost:5000/", "http://127.0.0.2:5000/"),
        *("http://a.127.0.0.1.example:5000/", "http://[::1]:5000/", "http://127.0.0.1/"),
    ],
)
def test_opening_one_site_opens_no_other(url: str) -> None:
    policy = opened("127.0.0.1:5000")

    def checked() -> None:
        target = parse(url)
        check(target, policy)
        check_addresses(target, ["127.0.0.1"], policy)

    with pytest.raises(InputError):
        checked()


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "100.100.100.200", "fd00:ec2::254", "fd00:ec2::254%eth0", "0.0.0.0",
     "224.0.0.1"],
)  # fmt: skip
def test_an_opened_name_still_never_leads_to_metadata_or_nowhere(address: str) -> None:
    with pytest.raises(InputError):
        check_addresses(parse("http://wiki.corp/"), [address], opened("wiki.corp"))


def test_an_opened_tunnel_address_still_never_leads_inside() -> None:
    policy = opened("[fd00::5efe:127.0.0.1]:80")
    with pytest.raises(InputError, match="leads to 127.0.0.1"):
        check(parse("http://[fd00::5efe:127.0.0.1]/"), policy)


def test_only_an_opened_site_leads_to_opened_sites() -> None:
    policy = opened("a.corp", "b.corp")
    assert policy.after(parse("http://a.corp/")) == policy
    assert policy.after(parse("http://public.example/")).private_hosts == frozenset()


@pytest.mark.parametrize(
    "host", ["metadata.goog", "x.metadata.google.internal", "metadata.tencentyun.com"]
)
def test_a_metadata_name_is_refused_even_where_an_operator_opens_it(host: str) -> None:
    target = parse(f"http://{host}/")
    with pytest.raises(InputError, match="metadata"):
        check(target, Policy(frozenset({target.site})))
