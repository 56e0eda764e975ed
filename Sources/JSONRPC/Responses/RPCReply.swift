import StrictJSON

/// The result of handling a request body.
package enum RPCReply: Sendable {
    /// A response object or an array of them.
    case response(RPCResponseBody)
    /// No response: the body contained only notifications.
    case noContent
    /// No memory was available for a response, or the request has waited too long; nothing was executed.
    case rejected(RPCError)
    /// The client has sent too many calls, and nothing was executed.
    case refused(RPCError)
}

/// The outcome of one request.
enum RPCOutcome: Sendable {
    case result(@Sendable (inout JSONWriter) -> Void)
    case error(RPCError)

    /// Returns the response object as JSON. Without an ID to echo, the `id` is null.
    func response(id: ArraySlice<UInt8>?) -> [UInt8] {
        // The size of a typical response, to avoid growing the buffer repeatedly.
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.key("jsonrpc")
        writer.string("2.0")
        writer.key("id")
        if let id {
            writer.raw(id)
        } else {
            writer.null()
        }
        switch self {
        case .result(let write):
            writer.key("result")
            write(&writer)
        case .error(let error):
            writer.key("error")
            error.write(to: &writer)
        }
        writer.endObject()
        return writer.finish()
    }
}
