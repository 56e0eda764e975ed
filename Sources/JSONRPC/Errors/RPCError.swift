package import StrictJSON

/// The error that a call is answered with: a code for programs, a message for people, and data for both.
///
/// What it holds is sent to the client, with one exception: the message and data of an ``RPCErrorCode/internalError`` go
/// to the server's log, and the client gets an `errorId` by which the entry is found.
package struct RPCError: Error, Sendable, CustomStringConvertible {
    package var code: RPCErrorCode
    /// One sentence that says what was expected and what was found.
    package var message: String
    package var data: RPCErrorData

    package init(_ code: RPCErrorCode, _ message: String, data: RPCErrorData = [:]) {
        self.code = code
        self.message = message
        self.data = data
    }

    package var description: String {
        "\(message) (\(code))"
    }

    /// Writes the `error` member of a response.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("code")
        writer.integer(Int64(code.rawValue))
        writer.key("message")
        writer.string(message)
        if !data.isEmpty {
            writer.key("data")
            data.write(to: &writer)
        }
        writer.endObject()
    }
}

/// An error of a lower floor that knows how a client is to be told of it.
///
/// What a method throws and is neither this nor a `CancellationError` is unexpected: the client gets an
/// ``RPCErrorCode/internalError`` without any of its text, and the server's log gets the error.
package protocol RPCErrorConvertible: Error {
    /// The error as the client sees it.
    var rpcError: RPCError { get }
}

extension RPCError: RPCErrorConvertible {
    package var rpcError: RPCError {
        self
    }
}
