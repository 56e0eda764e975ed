package import StrictJSON

/// The location of a value in the parameters of a call, written as `params.where[0].op`.
package indirect enum ParameterLocation: Sendable, CustomStringConvertible {
    /// The parameters as a whole.
    case params
    /// A member of an object.
    case member(UTF8Key, of: ParameterLocation)
    /// An element of an array.
    case element(Int, of: ParameterLocation)

    package var description: String {
        switch self {
        case .params: "params"
        case .element(let index, let parent): "\(parent)[\(index)]"
        case .member(let key, let parent) where Self.isIdentifier(key): "\(parent).\(key.string)"
        case .member(let key, let parent): "\(parent)[\(Self.quoted(key))]"
        }
    }

    /// Returns the error for a value of the wrong JSON type: `expected("a string", got: node)`.
    package func expected(_ expectation: String, got node: JSONNode) -> RPCError {
        .invalidParams(at: description, reason: "expected \(expectation)", got: "\(node.kind)")
    }

    /// Returns the error for an invalid value of the right type.
    package func invalid(_ reason: String, got node: JSONNode? = nil) -> RPCError {
        .invalidParams(at: description, reason: reason, got: node.map { excerpt(of: $0.rawBytes) })
    }

    /// Returns whether a key can be written without quotes.
    private static func isIdentifier(_ key: UTF8Key) -> Bool {
        (1...64).contains(key.byteCount)
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private static func quoted(_ key: UTF8Key) -> String {
        var writer = JSONWriter()
        writer.string(excerpt(of: key.utf8))
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}

extension RPCError {
    /// Returns the error for invalid parameters, with `data: {path, reason, got}`.
    ///
    /// - Parameters:
    ///   - path: The location, as ``ParameterLocation/description`` writes it.
    ///   - reason: The violated expectation.
    ///   - got: The JSON type or an excerpt of the value; nil when there is no value.
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
