// The connection, the credentials and the values that the public API shares with it.
@_exported public import HearthTransport
