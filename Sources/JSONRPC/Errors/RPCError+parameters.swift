import UTF8Text

extension RPCError {
    /// Returns the error for invalid parameters, with `data: {path, reason, got}`.
    ///
    /// - Parameters:
    ///   - path: The location, as `ParameterLocation` describes it.
    ///   - reason: The violated expectation.
    ///   - got: The JSON type or an excerpt of the value; `nil` if there is no value.
    package static func invalidParams(at path: String, reason: String, got: String? = nil) -> RPCError {
        var data: RPCErrorData = ["path": .string(path), "reason": .string(reason)]
        data["got"] = got.map { .string($0) }
        return RPCError(.invalidParams, "Invalid params: \(path): \(reason)", data: data)
    }
}

/// Returns the start of a client's text, short enough to quote in an error.
func excerpt(of utf8: some BidirectionalCollection<UInt8>, maximumBytes: Int = 64) -> String {
    guard utf8.count > maximumBytes else { return String(decoding: utf8, as: UTF8.self) }
    var head = utf8.prefix(maximumBytes)
    // Drop a scalar that the cut splits: its continuation bytes and its first byte.
    if utf8[head.endIndex] & 0b1100_0000 == 0b1000_0000 {
        while let last = head.popLast(), last & 0b1100_0000 == 0b1000_0000 {}
    }
    return String(decoding: head, as: UTF8.self) + "…"
}
