import DocumentModel
import UTF8Text
import XMLText

/// Writes the geo points of documents as KML 2.2 placemarks, each with its document's ID and scalar fields.
struct KMLExportWriter: ExportWriter {
    private let xml = XMLWriter()
    private let name: String

    /// - Parameter name: The name of the KML document.
    init(name: String) {
        self.name = name
    }

    func begin() -> [UInt8] {
        xml.startElement("kml")
        xml.attribute("xmlns", "http://www.opengis.net/kml/2.2")
        xml.startElement("Document")
        xml.element("name", name)
        return xml.flush()
    }

    func write(_ documents: [EncodedDocument]) throws(StatusError) -> [UInt8] {
        for document in documents {
            let document = try document.decoded()
            LeafFieldVisitor.forEachValue(of: document) { value, path in
                if case .geoPoint(let point) = value { write(point, in: path(), of: document) }
            }
        }
        return xml.flush()
    }

    func end() -> [UInt8] {
        xml.endElement()
        xml.endElement()
        return xml.flush()
    }

    /// Returns a comment; open elements stay unclosed.
    func abort(_ reason: String) -> [UInt8] {
        var text: [UInt8] = []
        for byte in reason.utf8 {
            // XML comments may not contain two consecutive hyphens.
            if byte == UInt8(ascii: "-"), text.last == byte { text.append(UInt8(ascii: " ")) }
            text.append(byte)
        }
        return Array("\n<!-- ".utf8) + text + " -->\n".utf8
    }

    private func write(_ point: GeoPoint, in field: String, of document: Document) {
        xml.startElement("Placemark")
        xml.element("name", document.path.id.key.string)
        xml.startElement("ExtendedData")
        data(FieldPath.documentName.description, document.path.string)
        data("__field__", field)
        for (key, value) in document.fields {
            if let text = Self.text(of: value) { data(key.string, text) }
        }
        xml.endElement()
        xml.startElement("Point")
        // KML has the longitude first.
        xml.element("coordinates", "\(CoordinateFormat.number(point.longitude)),\(CoordinateFormat.number(point.latitude))")
        xml.endElement()
        xml.endElement()
    }

    private func data(_ name: String, _ value: String) {
        xml.startElement("Data")
        xml.attribute("name", name)
        xml.element("value", value)
        xml.endElement()
    }

    /// Formats a scalar for the balloon of a placemark; returns `nil` for other types.
    private static func text(of value: Value) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let integer): integer.description
        case .double(let double): NumberFormat.roundTrip(double)
        case .boolean(let boolean): boolean ? "true" : "false"
        case .timestamp(let time): time.rfc3339
        case .reference(let path): path.string
        case .null, .bytes, .geoPoint, .array, .map, .vector: nil
        }
    }
}
