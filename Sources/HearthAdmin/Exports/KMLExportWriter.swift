import DocumentModel
import StrictJSON
import XMLText

/// The geo points of documents as placemarks of KML 2.2, each with the name of its document and the plain fields beside it.
struct KMLExportWriter: ExportWriter {
    private let xml = XMLText()
    private let name: String

    /// - Parameter name: What the whole is called.
    init(name: String) {
        self.name = name
    }

    func begin() -> [UInt8] {
        xml.begin("kml")
        xml.attribute("xmlns", "http://www.opengis.net/kml/2.2")
        xml.begin("Document")
        xml.element("name", name)
        return xml.take()
    }

    func write(_ documents: [EncodedDocument]) throws(StatusError) -> [UInt8] {
        for document in documents {
            let document = try document.decoded()
            FieldWalk.forEachValue(of: document) { value, field in
                if case .geoPoint(let point) = value { write(point, in: field(), of: document) }
            }
        }
        return xml.take()
    }

    func end() -> [UInt8] {
        xml.end()
        xml.end()
        return xml.take()
    }

    /// A comment. What is open is not closed.
    func breakOff(_ reason: String) -> [UInt8] {
        var text: [UInt8] = []
        for byte in reason.utf8 {
            // There are no two hyphens in a comment.
            if byte == UInt8(ascii: "-"), text.last == byte { text.append(UInt8(ascii: " ")) }
            text.append(byte)
        }
        return Array("\n<!-- ".utf8) + text + " -->\n".utf8
    }

    private func write(_ point: GeoPoint, in field: String, of document: Document) {
        xml.begin("Placemark")
        xml.element("name", document.path.id.key.string)
        xml.begin("ExtendedData")
        data(FieldPath.documentName.description, document.path.string)
        data("__field__", field)
        for (key, value) in document.fields {
            if let text = Self.text(of: value) { data(key.string, text) }
        }
        xml.end()
        xml.begin("Point")
        // Longitude first.
        xml.element("coordinates", "\(Coordinates.number(point.longitude)),\(Coordinates.number(point.latitude))")
        xml.end()
        xml.end()
    }

    private func data(_ name: String, _ value: String) {
        xml.begin("Data")
        xml.attribute("name", name)
        xml.element("value", value)
        xml.end()
    }

    /// A value as the balloon of a placemark shows it; nil for what has no short text.
    private static func text(of value: Value) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let integer): integer.description
        case .double(let double): Number.text(double)
        case .boolean(let boolean): boolean ? "true" : "false"
        case .timestamp(let time): time.rfc3339
        case .reference(let path): path.string
        case .null, .bytes, .geoPoint, .array, .map, .vector: nil
        }
    }
}
