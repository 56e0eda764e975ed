package import StrictJSON
package import UTF8Text

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
