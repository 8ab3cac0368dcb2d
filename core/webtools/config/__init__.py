"""Settings, from one source: what the code passes in, else the file, else the environment."""

from webtools.config.accounts import Accounts
from webtools.config.environment import environment_config
from webtools.config.file import EXAMPLE
from webtools.config.models import Config, ProviderConfig, StorageConfig
from webtools.config.parts import BudgetConfig, CacheConfig, FetchConfig, LogConfig, ResearchConfig
from webtools.config.paths import cache_path, config_paths, log_path
from webtools.config.settings import Settings, check, find_config, load
from webtools.config.values import KeySource

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
