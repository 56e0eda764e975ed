package import JSONRPC
package import StrictJSON
package import UTF8Text

/// The unguessable ID of an open transaction.
package struct TransactionID: Hashable, Sendable {
    /// The encoded ID.
    package let key: UTF8Key

    /// Wraps an ID, such as one from a client.
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
