from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Wires the rooms together; holds the commands that concern the whole installation."""

    name = "config"
    verbose_name = "Installation"
