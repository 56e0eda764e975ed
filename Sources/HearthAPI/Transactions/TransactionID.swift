package import JSONRPC
package import StrictJSON
package import UTF8Text

/// The unguessable ID of an open transaction.
package struct TransactionID: Hashable, Sendable {
    /// The encoded ID.
    package let key: UTF8Key

    /// Creates an ID from 128 bits of the system's random number generator.
    init() {
        key = UTF8Key(Base64.url.encode(RandomBytes.make(16)))
    }

    /// Wraps an ID from a client.
    package init(_ text: String) {
        key = UTF8Key(text)
    }
}

extension TransactionID: ParameterValue {
    package static var schema: JSONSchema { .string() }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self.init(try String(json: json, at: location))
    }
}
