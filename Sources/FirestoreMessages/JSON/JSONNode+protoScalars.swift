package import DocumentModel
package import StrictJSON
package import UTF8Text

// Scalar fields in the JSON mapping of Protocol Buffers (ProtoJSON).
extension JSONNode {
    package func stringField() throws(StatusError) -> String {
        guard let string else { throw expected("a string") }
        return string
    }

    package func booleanField() throws(StatusError) -> Bool {
        guard let boolean else { throw expected("true or false") }
        return boolean
    }

    /// Decodes a 64-bit integer: decimal digits in a string, or an integral number.
    package func integerField() throws(StatusError) -> Int64 {
        if let string, let integer = Int64(decimal: string) { return integer }
        switch number {
        case .integer(let integer)?:
            return integer
        case .double(let double)?:
            guard let integer = Int64(exactly: double) else { throw expected("a 64-bit integer") }
            return integer
        case .outOfRange?, nil:
            throw expected("a 64-bit integer, as a string or a number")
        }
    }

    /// Decodes a 32-bit integer.
    package func countField() throws(StatusError) -> Int {
        guard let integer = Int32(exactly: try integerField()) else { throw expected("a 32-bit integer") }
        return Int(integer)
    }

    /// Decodes a double: a number, or a string with one, `"NaN"`, `"Infinity"` or `"-Infinity"`.
    package func doubleField() throws(StatusError) -> Double {
        switch number {
        case .integer(let integer)?: return Double(integer)
        case .double(let double)?: return double
        case .outOfRange?, nil: break
        }
        if let string {
            if string.utf8.elementsEqual("NaN".utf8) { return .nan }
            if string.utf8.elementsEqual("Infinity".utf8) { return .infinity }
            if string.utf8.elementsEqual("-Infinity".utf8) { return -.infinity }
        }
        // An integer literal outside the 64-bit range is still a valid double.
        let literal = string.map { Array($0.utf8) } ?? Array(rawBytes)
        guard kind == .number || kind == .string, literal.allSatisfy(\.isNumberCharacter),
            let double = Double(String(decoding: literal, as: UTF8.self)), double.isFinite
        else { throw expected("a double, or \"NaN\", \"Infinity\" or \"-Infinity\"") }
        return double
    }

    /// Decodes base64, in either alphabet.
    package func bytesField() throws(StatusError) -> [UInt8] {
        guard let string, let bytes = Base64.decodeAny(string) else { throw expected("a base64 string") }
        return bytes
    }

    /// Decodes a timestamp: RFC 3339, or the message with `seconds` and `nanos`.
    package func timestampField(_ form: ProtoJSONForm = .standard) throws(StatusError) -> Timestamp {
        if form == .protobufJS, kind == .object { return try Timestamp(message: self) }
        guard let string else { throw expected("an RFC 3339 timestamp, such as \"2014-09-09T08:00:47.5Z\"") }
        return try Timestamp(rfc3339: string)
    }

    /// Decodes an enum value, by name or number.
    package func enumerationField<Value>(_ enumeration: ProtoEnumeration<Value>) throws(StatusError) -> Value {
        let value: Value? =
            if let string {
                enumeration.value(named: string)
            } else if case .integer(let integer)? = number, let integer = Int(exactly: integer) {
                enumeration.value(number: integer)
            } else {
                nil
            }
        guard let value else { throw expected("one of \(enumeration.names)") }
        return value
    }

    /// Returns the error for a value of the wrong type.
    package func expected(_ expectation: String) -> StatusError {
        let found: String =
            switch kind {
            case .null: "null"
            case .boolean, .number: Excerpt(String(decoding: rawBytes.prefix(80), as: UTF8.self)).text
            case .string: string.map { Excerpt($0).description } ?? "a string"
            case .array: "an array"
            case .object: "an object"
            }
        return StatusError(.invalidArgument, "Expected \(expectation), found \(found).")
    }
}

extension Timestamp {
    private static let messageFields: [ProtoField] = ["seconds", "nanos"]

    /// Decodes `{"seconds": …, "nanos": …}`. What is less than a microsecond is cut off.
    fileprivate init(message node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.messageFields)
        let seconds = try message.read("seconds") { node throws(StatusError) in try node.integerField() } ?? 0
        let nanos = try message.read("nanos") { node throws(StatusError) in try node.integerField() } ?? 0
        guard (0..<1_000_000_000).contains(nanos) else {
            throw StatusError(.invalidArgument, "Expected nanos from 0 to 999999999, found \(nanos).")
        }
        let (product, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isSumOverflow) = product.addingReportingOverflow(nanos / 1_000)
        guard !isOverflow, !isSumOverflow else {
            throw StatusError(.invalidArgument, "Expected a time in the years 1 to 9999, found \(seconds) seconds since 1970.")
        }
        try self.init(microseconds: sum)
    }
}

extension Base64 {
    /// Decodes the standard or URL-safe alphabet, with or without padding. Returns `nil` for invalid input.
    package static func decodeAny(_ text: String) -> [UInt8]? {
        if let bytes = standard.decode(text.utf8) { return bytes }
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        let unpadded = text.utf8.dropLast(padding).map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return url.decode(String(decoding: unpadded, as: UTF8.self).utf8)
    }
}

extension Int64 {
    /// Parses an optional minus sign and decimal digits. Returns `nil` for anything else, including a plus sign.
    package init?(decimal text: String) {
        guard text.utf8.first != UInt8(ascii: "+"), let integer = Int64(text) else { return nil }
        self = integer
    }
}

extension UInt8 {
    /// True if the byte can occur in a JSON number. Excludes words that `Double` parses, such as `inf` and `0x1p3`.
    fileprivate var isNumberCharacter: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: false
        }
    }
}

extension JSONNode {
    private static let wrapperFields: [ProtoField] = ["value"]

    /// Decodes a wrapped number: the number, or the message around it.
    package func wrappedField<Number>(
        _ form: ProtoJSONForm,
        _ decode: (JSONNode) throws(StatusError) -> Number
    ) throws(StatusError) -> Number {
        guard form == .protobufJS, kind == .object else { return try decode(self) }
        return try ProtoMessage(self, fields: Self.wrapperFields).require("value", decode)
    }
}
