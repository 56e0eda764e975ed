package import StrictJSON

/// Where a value stands in the parameters of a call; as text `params.where[0].op`.
package indirect enum ParameterLocation: Sendable, CustomStringConvertible {
    /// The whole of the parameters.
    case params
    /// A member of an object.
    case member(UTF8Key, of: ParameterLocation)
    /// An element of an array.
    case element(Int, of: ParameterLocation)

    package var description: String {
        switch self {
        case .params: "params"
        case .element(let index, let parent): "\(parent)[\(index)]"
        case .member(let key, let parent) where Self.isPlain(key): "\(parent).\(key.string)"
        case .member(let key, let parent): "\(parent)[\(Self.quoted(key))]"
        }
    }

    /// The error for a value of the wrong JSON type: `expected("a string", got: node)`.
    package func expected(_ what: String, got node: JSONNode) -> RPCError {
        .invalidParams(at: description, reason: "expected \(what)", got: "\(node.kind)")
    }

    /// The error for a value of the right type that may not stand here; `reason` says why.
    package func invalid(_ reason: String, got node: JSONNode? = nil) -> RPCError {
        .invalidParams(at: description, reason: reason, got: node.map { excerpt(of: $0.rawBytes) })
    }

    private static func isPlain(_ key: UTF8Key) -> Bool {
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
    /// The error for parameters that do not fit, with `data: {path, reason, got}`.
    ///
    /// - Parameters:
    ///   - path: Where, as a ``ParameterLocation`` writes it.
    ///   - reason: What was expected.
    ///   - got: What was found: a JSON type, or the beginning of the value's text. Absent when there was nothing.
    package static func invalidParams(at path: String, reason: String, got: String? = nil) -> RPCError {
        var data: RPCErrorData = ["path": .string(path), "reason": .string(reason)]
        data["got"] = got.map { .string($0) }
        return RPCError(.invalidParams, "Invalid params: \(path): \(reason)", data: data)
    }
}

/// The beginning of a text that a client sent, short enough to be quoted back in an error.
func excerpt(of utf8: some BidirectionalCollection<UInt8>, maximumBytes: Int = 64) -> String {
    guard utf8.count > maximumBytes else { return String(decoding: utf8, as: UTF8.self) }
    var head = utf8.prefix(maximumBytes)
    // Leave out the scalar that the cut goes through: its continuation bytes, and its first byte.
    if utf8[head.endIndex] & 0b1100_0000 == 0b1000_0000 {
        while let last = head.popLast(), last & 0b1100_0000 == 0b1000_0000 {}
    }
    return String(decoding: head, as: UTF8.self) + "…"
}
