from tests.known_vaults import generated, real_vault

__all__ = ["generated", "real_vault"]
