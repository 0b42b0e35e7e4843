"""What may be kept and where: secrets are taken out of payloads, names and paths are checked before they are used."""
