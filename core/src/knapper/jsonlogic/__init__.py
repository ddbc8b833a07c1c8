"""JsonLogic: a rule as JSON data, checked once and evaluated over many values within a budget."""

from knapper.jsonlogic.rule import MAX_DEPTH, MAX_OPS, MAX_SIZE, Rule
from knapper.jsonlogic.values import truthy

__all__ = ["MAX_DEPTH", "MAX_OPS", "MAX_SIZE", "Rule", "truthy"]
