import DocumentModel
import UTF8Text

/// A value entered without a type: its text is read as each type that it can be, such as `50` as an integer and as a string.
struct AutomaticValue: Sendable {
    /// The type of a reading with its value.
    typealias Reading = (kind: ValueInput.Kind, type: ValueType, value: Value)

    /// The readings of the text, the most specific first; the last one is a string.
    let readings: [Reading]

    init(_ text: String) {
        let candidates: [(kind: ValueInput.Kind, type: ValueType)] = [
            (.integer, .integer), (.double, .double), (.boolean, .boolean), (.timestamp, .timestamp), (.geoPoint, .geoPoint),
            (.reference, .reference), (.bytes, .bytes), (.string, .string),
        ]
        readings = candidates.compactMap { kind, type in
            (try? ValueInput(text, as: kind).value()).map { (kind, type, $0) }
        }
    }

    /// Returns the reading that fits the values of a field: the first one with the most frequent of the types that the text can be.
    ///
    /// Numbers of both types are equal in queries. Without a fitting type, the text is a number, a Boolean, a timestamp or a string.
    ///
    /// - Parameter types: The types of the field's values, the most frequent first; empty if they are unknown.
    func reading(fitting types: [ValueType]) -> Reading {
        for type in types {
            if type.isNumeric, let number = readings.first(where: { $0.type.isNumeric }) { return number }
            if let reading = readings.first(where: { $0.type == type }) { return reading }
        }
        // Every text can be a string.
        return readings.first { Self.unmistakable.contains($0.type) } ?? readings[readings.count - 1]
    }

    /// The types whose notation is hardly used for strings.
    private static let unmistakable: Set<ValueType> = [.integer, .double, .boolean, .timestamp]
}
