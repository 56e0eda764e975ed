import DocumentModel
package import JSONRPC
package import StrictJSON

/// Names an open transaction; whoever has it may use the transaction, so it can't be guessed.
package struct TransactionID: Hashable, Sendable {
    /// The name as clients get it.
    package let key: UTF8Key

    /// Makes a new one of 128 bits of the system's random numbers.
    init() {
        key = UTF8Key(Base64.url.encode(RandomBytes.make(16)))
    }

    /// Takes a name as a client gives it.
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
