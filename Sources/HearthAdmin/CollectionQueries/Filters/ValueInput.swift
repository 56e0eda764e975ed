import DocumentModel
import StrictJSON
import UTF8Text

/// A value as entered in a form: its text, and the type that the text is parsed as.
struct ValueInput: Sendable {
    /// The type that the text is parsed as.
    enum Kind: String, CaseIterable, Sendable {
        /// The type that fits the values of the field.
        case automatic = "auto"
        case string
        case integer
        case double
        case boolean
        case timestamp
        case null
        case geoPoint = "geo point"
        case reference
        case bytes
        case json = "JSON"

        /// The localized name.
        var name: String {
            switch self {
            case .automatic: localized("automatic")
            case .string: localized("string")
            case .integer: localized("integer")
            case .double: localized("double")
            case .boolean: localized("boolean")
            case .timestamp: localized("timestamp")
            case .null: localized("null")
            case .geoPoint: localized("geo point")
            case .reference: localized("reference")
            case .bytes: localized("bytes")
            case .json: "JSON"
            }
        }
    }

    var kind: Kind
    var text: String

    init(_ text: String = "", as kind: Kind = .string) {
        self.text = text
        self.kind = kind
    }

    /// Formats a value so that parsing returns the same value: in the notation of its type if possible, otherwise as JSON.
    init(_ value: Value) {
        switch value {
        case .string(let string) where DisplayText(string).runs.allSatisfy({ $0.mark == nil }): self.init(string)
        case .integer(let integer): self.init(integer.description, as: .integer)
        case .double(let double): self.init(NumberFormat.roundTrip(double), as: .double)
        case .boolean(let boolean): self.init(boolean ? "true" : "false", as: .boolean)
        case .timestamp(let time): self.init(time.rfc3339, as: .timestamp)
        case .null: self.init("", as: .null)
        case .geoPoint(let point): self.init(CoordinateFormat.decimal(point), as: .geoPoint)
        case .bytes(let bytes): self.init(Base64.standard.encode(bytes), as: .bytes)
        case .reference(let path) where DisplayText(path.string).runs.allSatisfy({ $0.mark == nil }):
            self.init(path.string, as: .reference)
        case .string, .reference, .array, .map, .vector: self.init(EscapedJSON.text(value.json), as: .json)
        }
    }

    /// The input with invisible characters escaped.
    var escaped: ValueInput {
        let text = DisplayText(text)
        guard text.runs.contains(where: { $0.mark != nil }) else { return self }
        return switch kind {
        case .string: ValueInput(.string(self.text))
        case .json: ValueInput(EscapedJSON.text(Array(self.text.utf8)), as: .json)
        default: ValueInput(text.plain, as: kind)
        }
    }

    /// Parses the text.
    ///
    /// - Throws: `invalidArgument` describing the expected text.
    func value() throws(StatusError) -> Value {
        switch kind {
        case .automatic: return AutomaticValue(text).reading(fitting: []).value
        case .string: return .string(text)
        case .integer:
            guard case .integer(let integer)? = number else { throw expected("a 64-bit integer, such as 816") }
            return .integer(integer)
        case .double:
            switch (UTF8Key(text), number) {
            case ("NaN", _): return .double(.nan)
            case ("Infinity", _): return .double(.infinity)
            case ("-Infinity", _): return .double(-.infinity)
            case (_, .integer(let integer)?): return .double(Double(integer))
            case (_, .double(let double)?): return .double(double)
            default: throw expected("a number such as 0.5, or NaN, Infinity or -Infinity")
            }
        case .boolean:
            guard let boolean = ["true": true, "false": false][UTF8Key(text)] else { throw expected("true or false") }
            return .boolean(boolean)
        case .timestamp:
            return .timestamp(try TimestampInput.timestamp(text))
        case .null:
            guard ["", "null"].contains(UTF8Key(text)) else { throw expected("an empty field or null") }
            return .null
        case .geoPoint:
            guard let numbers = NumberList.numbers(in: text), numbers.count == 2 else {
                throw expected("latitude and longitude, such as 53.55, 9.99")
            }
            return .geoPoint(try GeoPoint(validatingLatitude: numbers[0], longitude: numbers[1]))
        case .reference: return .reference(try DocumentPath(text))
        case .bytes:
            guard let bytes = Base64.standard.decode(text.utf8) else { throw expected("base64, such as SGVhcnRo") }
            return .bytes(bytes)
        case .json: return try Value(json: try json())
        }
    }

    /// Parses the text as JSON.
    ///
    /// - Throws: `invalidArgument` with the line and column of the syntax error.
    func json() throws(StatusError) -> JSONNode {
        do throws(JSONSyntaxError) {
            return try JSONText(text).root
        } catch {
            throw StatusError(.invalidArgument, "Invalid JSON: \(error)")
        }
    }

    private var number: JSONNumber? {
        (try? JSONText(text))?.root.number
    }

    private func expected(_ what: String) -> StatusError {
        StatusError(.invalidArgument, "Expected \(what), found \(text.utf8.isEmpty ? "nothing" : "\(Excerpt(text))").")
    }
}

extension Value {
    /// The value's JSON form.
    var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.finish()
    }
}
