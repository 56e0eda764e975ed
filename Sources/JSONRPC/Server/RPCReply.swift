import StrictJSON

/// What a request body is answered with.
package enum RPCReply: Sendable {
    /// One response, or an array of them.
    case response(RPCAnswer)
    /// Nothing: there were only notifications.
    case nothing
    /// There was no room for an answer, and nothing was executed.
    case refused(RPCError)
}

/// What came of one request.
enum RPCOutcome: Sendable {
    case result(@Sendable (inout JSONWriter) -> Void)
    case error(RPCError)

    /// The response object as JSON; without an id to echo, the id is null.
    func response(to id: ArraySlice<UInt8>?) -> [UInt8] {
        // As much as most responses have, so that it does not grow step by step.
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
