import DocumentModel
import StrictJSON

/// A value in the editor: a field, or an element of an array, as it was typed.
struct EditedRow: Sendable {
    /// How many maps and arrays it stands in.
    var depth: Int
    /// The name of the field; nothing for an element.
    var name: String
    var type: EditedType
    /// What is typed for it: of a geo point the latitude.
    var text: String
    /// Of a geo point the longitude, of bytes how they are written.
    var more: String
    /// Whether the field is to be typed into next.
    var isNew = false

    /// A value that is there.
    init(_ value: Value, name: UTF8Key?, depth: Int) {
        self.depth = depth
        self.name = name.map { EditedText.line($0.string) } ?? ""
        (type, text, more) = EditedType.edited(value)
    }

    /// One to be typed.
    init(newAt depth: Int) {
        self.init(.string(""), name: nil, depth: depth)
        isNew = true
    }

    /// What a form has sent of a row; nil when it isn't a row.
    init?(_ number: Int, of form: Form) {
        guard let type = form[UTF8Key("r\(number)-type")].flatMap({ EditedType(rawValue: $0.string) }),
            let depth = form[UTF8Key("r\(number)-depth")].flatMap({ Int($0.string) }),
            (0...DocumentLimits.maximumDepth).contains(depth)
        else { return nil }
        self.depth = depth
        self.type = type
        name = form[UTF8Key("r\(number)-name")]?.string ?? ""
        text = form[UTF8Key("r\(number)-value")]?.string ?? ""
        more = form[UTF8Key("r\(number)-more")]?.string ?? ""
    }
}

extension EditedRow {
    /// Whether something was typed before the type became one without text.
    var hasLeftoverText: Bool {
        type.isContainer && text.utf8.contains { $0 > UInt8(ascii: " ") }
    }

    /// What is wrong with what was typed.
    struct Fault: Error {
        let message: String
    }

    /// The name that was typed.
    func key() throws(Fault) -> UTF8Key {
        guard let string = EditedText.string(ofLine: name) else {
            throw Fault(
                message: localized("A name that begins with a quotation mark is read as JSON, and this is no string of JSON.")
            )
        }
        guard !string.utf8.isEmpty else { throw Fault(message: localized("Give the field a name.")) }
        return UTF8Key(string)
    }

    /// The value that was typed; of a map or array an empty one.
    func value() throws(Fault) -> Value {
        switch type {
        case .null: return .null
        case .map: return .map([:])
        case .array: return .array([])
        case .boolean:
            guard text.utf8.elementsEqual("true".utf8) || text.utf8.elementsEqual("false".utf8) else {
                throw Fault(message: localized("Choose true or false."))
            }
            return .boolean(text.utf8.elementsEqual("true".utf8))
        case .string: return .string(text)
        case .integer:
            guard let value = TypedNumber.integer(text) else {
                throw Fault(
                    message: localized(
                        "Expected a whole number from −9223372036854775808 to 9223372036854775807, in plain digits."
                    )
                )
            }
            return .integer(value)
        case .double: return .double(try double(text))
        case .vector: return .vector(try vector())
        case .color:
            guard HexColor(text) != nil else {
                throw Fault(message: localized("Expected a colour such as #fd1c48, #f14 or #fd1c4880."))
            }
            return .string(text)
        case .literal:
            guard let string = EditedText.string(ofLiteral: text) else {
                throw Fault(message: localized("Expected a string as JSON writes it, between quotation marks."))
            }
            return .string(string)
        case .bytes: return .bytes(try bytes())
        case .timestamp, .reference, .geoPoint: return try parsed()
        }
    }

    private func double(_ text: String) throws(Fault) -> Double {
        guard let value = TypedNumber.double(text) else {
            throw Fault(message: localized("Expected a number such as 2.5 or 1e300, or NaN, Infinity or -Infinity."))
        }
        return value
    }

    private func vector() throws(Fault) -> [Double] {
        var components: [Double] = []
        guard text.utf8.contains(where: { $0 > UInt8(ascii: " ") }) else { return components }
        for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let value = TypedNumber.double(String(Substring(part))) else {
                throw Fault(message: localized("Expected numbers with commas between them, such as 0.1, -2, 3e5."))
            }
            components.append(value)
        }
        return components
    }

    private func bytes() throws(Fault) -> [UInt8] {
        let digits = text.utf8.filter { $0 > UInt8(ascii: " ") }
        if more.utf8.elementsEqual("base64".utf8) {
            guard let bytes = Base64.standard.decode(String(decoding: digits, as: UTF8.self).utf8) else {
                throw Fault(message: localized("Expected base64 with its padding, such as 3q2+7w==."))
            }
            return bytes
        }
        guard let bytes = Hexadecimal.decode(digits) else {
            throw Fault(message: localized("Expected pairs of hexadecimal digits, such as de ad be ef."))
        }
        return bytes
    }

    /// What the model reads, and says itself what is wrong with.
    private func parsed() throws(Fault) -> Value {
        switch type {
        case .timestamp:
            return try Self.read { () throws(StatusError) in .timestamp(try Timestamp(rfc3339: TypedNumber.trimmed(text))) }
        case .reference:
            return try Self.read { () throws(StatusError) in .reference(try DocumentPath(EditedText.string(ofLine: text) ?? text))
            }
        default:
            guard let latitude = TypedNumber.double(text), let longitude = TypedNumber.double(more) else {
                throw Fault(message: localized("Expected two numbers of degrees, such as 53.553986 and 9.9856482."))
            }
            return try Self.read { () throws(StatusError) in
                .geoPoint(try GeoPoint(validatingLatitude: latitude, longitude: longitude))
            }
        }
    }

    private static func read(_ value: () throws(StatusError) -> Value) throws(Fault) -> Value {
        do throws(StatusError) {
            return try value()
        } catch {
            throw Fault(message: error.message)
        }
    }
}
