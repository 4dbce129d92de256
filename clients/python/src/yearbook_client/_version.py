"""The version of the distribution. Owns the number alone: the build reads this file."""

__version__ = "0.1.0"
