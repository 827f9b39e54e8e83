"""From a problem set's sources to what students receive."""
