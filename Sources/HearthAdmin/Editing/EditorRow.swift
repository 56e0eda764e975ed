import DocumentModel
import UTF8Text

/// A row of the field editor: the input for a field or an array element.
struct EditorRow: Sendable {
    /// The nesting depth.
    var depth: Int
    /// The name of the field; empty for an array element.
    var name: String
    var type: EditorValueType
    /// The input for the value, or the latitude of a geo point.
    var text: String
    /// The longitude of a geo point, or the encoding of bytes.
    var secondaryText: String
    /// The type that the form showed, which differs from ``type`` after the user has chosen another one; `nil` if unknown.
    private(set) var shownType: EditorValueType?
    /// The number of the row in the submitted form; `nil` for a row that was not there.
    private(set) var origin: Int?
    /// The suggestions for a reference; `nil` if none were searched for.
    var suggestions: [String]?
    /// The control that receives the focus.
    var focus: Focus?

    /// A control of a row.
    enum Focus: Sendable {
        case name
        case type
        case value
        case up
        case down
        case remove
    }

    /// Creates the row of an existing value.
    init(_ value: Value, name: UTF8Key?, depth: Int) {
        self.depth = depth
        self.name = name.map { FormTextCoding.encodeLine($0.string) } ?? ""
        (type, text, secondaryText) = EditorValueType.encode(value)
    }

    /// Creates an empty row.
    init(newAt depth: Int, focusing focus: Focus) {
        self.init(.string(""), name: nil, depth: depth)
        self.focus = focus
    }

    /// Decodes a row of a submitted form; `nil` if it is malformed.
    init?(_ number: Int, of form: Form) {
        guard let type = form[UTF8Key("r\(number)-type")].flatMap({ EditorValueType(rawValue: $0.string) }),
            let depth = form[UTF8Key("r\(number)-depth")].flatMap({ Int($0.string) }),
            (0...DocumentLimits.maximumDepth).contains(depth)
        else { return nil }
        self.depth = depth
        self.type = type
        origin = number
        name = form[UTF8Key("r\(number)-name")]?.string ?? ""
        text = form[UTF8Key("r\(number)-value")]?.string ?? ""
        secondaryText = form[UTF8Key("r\(number)-more")]?.string ?? ""
        shownType = form[UTF8Key("r\(number)-shown")].flatMap { EditorValueType(rawValue: $0.string) }
    }
}

extension EditorRow {
    /// True if a map or array has text that was typed before its type was changed.
    var hasLeftoverText: Bool {
        type.isContainer && text.utf8.contains { $0 > UInt8(ascii: " ") }
    }

    struct InvalidInput: Error {
        let message: String
    }

    /// Parses the name of the field.
    func key() throws(InvalidInput) -> UTF8Key {
        guard let string = FormTextCoding.decodeLine(name) else {
            throw InvalidInput(
                message: localized("A name that begins with a quotation mark must be a valid JSON string.")
            )
        }
        guard !string.utf8.isEmpty else { throw InvalidInput(message: localized("Enter a field name.")) }
        return UTF8Key(string)
    }

    /// Parses the value. Maps and arrays are empty; their contents are in other rows.
    func value() throws(InvalidInput) -> Value {
        switch type {
        case .null: return .null
        case .map: return .map([:])
        case .array: return .array([])
        case .boolean:
            guard text.utf8.elementsEqual("true".utf8) || text.utf8.elementsEqual("false".utf8) else {
                throw InvalidInput(message: localized("Choose true or false."))
            }
            return .boolean(text.utf8.elementsEqual("true".utf8))
        case .string: return .string(text)
        case .integer:
            guard let value = NumberInput.integer(text) else {
                throw InvalidInput(
                    message: localized(
                        "Expected an integer from −9223372036854775808 to 9223372036854775807, without separators."
                    )
                )
            }
            return .integer(value)
        case .double: return .double(try double(text))
        case .vector: return .vector(try vector())
        case .color:
            guard HexColor(text) != nil else {
                throw InvalidInput(message: localized("Expected a color such as #fd1c48, #f14 or #fd1c4880."))
            }
            return .string(text)
        case .literal:
            guard let string = FormTextCoding.decodeLiteral(text) else {
                throw InvalidInput(message: localized("Expected a JSON string in quotation marks."))
            }
            return .string(string)
        case .bytes: return .bytes(try bytes())
        case .timestamp, .reference, .geoPoint: return try parsed()
        }
    }

    private func double(_ text: String) throws(InvalidInput) -> Double {
        guard let value = NumberInput.double(text) else {
            throw InvalidInput(message: localized("Expected a number such as 2.5 or 1e300, or NaN, Infinity or -Infinity."))
        }
        return value
    }

    private func vector() throws(InvalidInput) -> [Double] {
        var components: [Double] = []
        guard text.utf8.contains(where: { $0 > UInt8(ascii: " ") }) else { return components }
        for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let value = NumberInput.double(String(Substring(part))) else {
                throw InvalidInput(message: localized("Expected numbers separated by commas, such as 0.1, -2, 3e5."))
            }
            components.append(value)
        }
        return components
    }

    private func bytes() throws(InvalidInput) -> [UInt8] {
        let digits = text.utf8.filter { $0 > UInt8(ascii: " ") }
        if secondaryText.utf8.elementsEqual("base64".utf8) {
            guard let bytes = Base64.standard.decode(String(decoding: digits, as: UTF8.self).utf8) else {
                throw InvalidInput(message: localized("Expected base64 with its padding, such as 3q2+7w==."))
            }
            return bytes
        }
        guard let bytes = Hexadecimal.decode(digits) else {
            throw InvalidInput(message: localized("Enter hexadecimal bytes, for example de ad be ef."))
        }
        return bytes
    }

    /// Parses a value whose error messages come from the model.
    private func parsed() throws(InvalidInput) -> Value {
        switch type {
        case .timestamp:
            guard let time = try? TimestampInput.timestamp(text) else {
                throw InvalidInput(message: localized("Enter a date and time such as 2014-09-09 08:00:47 UTC."))
            }
            return .timestamp(time)
        case .reference:
            return try Self.read { () throws(StatusError) in .reference(try DocumentPath(FormTextCoding.decodeLine(text) ?? text))
            }
        default:
            guard let latitude = NumberInput.double(text), let longitude = NumberInput.double(secondaryText) else {
                throw InvalidInput(
                    message: localized("Expected latitude and longitude in degrees, such as 53.553986 and 9.9856482.")
                )
            }
            return try Self.read { () throws(StatusError) in
                .geoPoint(try GeoPoint(validatingLatitude: latitude, longitude: longitude))
            }
        }
    }

    private static func read(_ value: () throws(StatusError) -> Value) throws(InvalidInput) -> Value {
        do throws(StatusError) {
            return try value()
        } catch {
            throw InvalidInput(message: error.message)
        }
    }
}
