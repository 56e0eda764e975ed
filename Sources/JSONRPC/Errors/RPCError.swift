package import StrictJSON
import UTF8Text

/// The error object of a response: a code for programs, a human-readable message, and structured data.
///
/// All of it is sent to the client, with one exception: the message and data of an ``RPCErrorCode/internalError`` go to the
/// server's log, and the client receives the `errorId` of the log entry.
package struct RPCError: Error, Sendable, CustomStringConvertible {
    package var code: RPCErrorCode
    /// One sentence: what was expected and what was found.
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

    /// Returns the error with the ID of its request in the server's log, if the server is to blame for it.
    package func ofRequest(_ id: String?) -> RPCError {
        guard let id, code.isServerFault else { return self }
        var error = self
        error.data["requestId"] = .string(id)
        return error
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

/// An error of a lower layer that maps to a client-visible error.
///
/// Any other error that a method throws, except `CancellationError`, is unexpected: the client receives an
/// ``RPCErrorCode/internalError`` without its text, and the error is logged.
package protocol RPCErrorConvertible: Error {
    /// The error object sent to the client.
    var rpcError: RPCError { get }
}

extension RPCError: RPCErrorConvertible {
    package var rpcError: RPCError {
        self
    }
}
