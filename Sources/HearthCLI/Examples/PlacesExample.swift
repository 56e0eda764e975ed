import DocumentModel
import HearthAPI
import UTF8Text

/// The locations of the time zone database: one document per row of `zone.tab`.
///
/// A row consists of a country code, coordinates, the name of the time zone and an optional comment, separated by tabs. The
/// document ID is the zone name with `~` instead of `/`, which IDs cannot contain: `Europe~Berlin`. Zone names don't contain `~`.
enum PlacesExample {
    private static let file = ExampleFile(paths: ["/usr/share/zoneinfo/zone.tab"], remedy: "Install the Debian package tzdata.")

    static func documents() throws(StatusError) -> [ExampleDocument] {
        var documents: [ExampleDocument] = []
        try file.forEachLine { line, origin throws(StatusError) in
            guard let first = line.first, first != UInt8(ascii: "#") else { return }
            documents.append(try document(for: line, from: origin))
        }
        return documents
    }

    private static func document(
        for line: Substring.UTF8View,
        from origin: ImportOrigin
    ) throws(StatusError) -> ExampleDocument {
        let columns = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        guard (3...4).contains(columns.count) else {
            throw StatusError(.dataLoss, "Expected 3 or 4 tab-separated columns, found \(columns.count).")
        }
        let zone = columns[2]
        var fields: MapValue = [
            "name": .string(placeName(ofZone: zone)),
            "zone": .string(String(Substring(zone))),
            "countryCode": .string(String(Substring(columns[0]))),
            "location": .geoPoint(try GeoPoint(iso6709: columns[1])),
        ]
        if columns.count == 4 { fields["comments"] = .string(String(Substring(columns[3]))) }
        return ExampleDocument(path: try DocumentPath("places/\(zone.replacing("/", with: "~"))"), fields: fields, origin: origin)
    }

    /// Returns `Port of Spain` for `America/Port_of_Spain`.
    private static func placeName(ofZone zone: Substring.UTF8View) -> String {
        let start = zone.lastIndex(of: UInt8(ascii: "/")).map { zone.index(after: $0) } ?? zone.startIndex
        return zone[start...].replacing("_", with: " ")
    }
}

extension Substring.UTF8View {
    fileprivate func replacing(_ old: Unicode.Scalar, with new: Unicode.Scalar) -> String {
        String(decoding: map { $0 == UInt8(ascii: old) ? UInt8(ascii: new) : $0 }, as: UTF8.self)
    }
}
