"""Settings from one source: the code, else the config file, else the environment."""

from webtools.config.accounts import Accounts, cache_path, log_path
from webtools.config.config_file import EXAMPLE
from webtools.config.config_models import Config, ProviderConfig, StorageConfig
from webtools.config.environment import environment_config
from webtools.config.parts import BudgetConfig, CacheConfig, FetchConfig, LogConfig, ResearchConfig
from webtools.config.paths import config_paths
from webtools.config.setting_values import KeySource
from webtools.config.settings import Settings, check, find_config, load

__all__ = [
    "EXAMPLE",
    "Accounts",
    "BudgetConfig",
    "CacheConfig",
    "Config",
    "FetchConfig",
    "KeySource",
    "LogConfig",
    "ProviderConfig",
    "ResearchConfig",
    "Settings",
    "StorageConfig",
    "cache_path",
    "check",
    "config_paths",
    "environment_config",
    "find_config",
    "load",
    "log_path",
]
