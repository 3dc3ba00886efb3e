"""Healing: the operator as users run it, let loose on staged scenarios, and what it took."""

from sanare_lab.healing.heal import Healing, HealPlan, heal, heal_all
from sanare_lab.healing.process import OperatorProcess, operator_process

__all__ = ["HealPlan", "Healing", "OperatorProcess", "heal", "heal_all", "operator_process"]
