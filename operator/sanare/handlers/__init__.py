"""kopf's side: login and informer. Handlers only put keys on the queue; nothing is decided here."""
