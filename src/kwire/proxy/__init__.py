"""Proxy between clients and brokers: each listener represents one broker, and rules change the frames.

ProxyConfig --> RuleSet --> RelayPlan            action for each kind of frame
sockets ------> ProxiedConnection --> Relay      one client and one broker
"""

from __future__ import annotations

from kwire.lazy_names import lazy_getattr

TYPE_CHECKING = False

if TYPE_CHECKING:
    from kwire.proxy.config import ProxyConfig
    from kwire.proxy.config_file import load_config
    from kwire.proxy.connection import ProxiedConnection
    from kwire.proxy.rule_set import RuleSet
    from kwire.proxy.server import ProxyServer

__all__ = ["ProxiedConnection", "ProxyConfig", "ProxyServer", "RuleSet", "load_config"]

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(
    globals(),
    {
        "ProxyConfig": "kwire.proxy.config", "load_config": "kwire.proxy.config_file", "ProxiedConnection": "kwire.proxy.connection",
        "RuleSet": "kwire.proxy.rule_set", "ProxyServer": "kwire.proxy.server",
    },
)  # fmt: skip
