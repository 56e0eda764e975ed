import UTF8Text

/// A file format of exports.
enum ExportFormat: String, CaseIterable, Sendable {
    /// One JSON document per line, lossless.
    case ndjson
    /// A JSON array of documents, lossless.
    case json
    /// A table with a column for each field.
    case csv
    /// The geo points as placemarks for mapping software.
    case kml
    /// A feed of the latest changes.
    case atom

    /// Returns the format with a name.
    init?(_ name: UTF8Key) {
        guard let format = Self.allCases.first(where: { UTF8Key($0.rawValue) == name }) else { return nil }
        self = format
    }

    /// The display name.
    var name: String {
        switch self {
        case .ndjson: "NDJSON"
        case .json: "JSON"
        case .csv: "CSV"
        case .kml: "KML"
        case .atom: "Atom"
        }
    }

    var mediaType: String {
        switch self {
        case .ndjson: "application/x-ndjson"
        case .json: "application/json"
        case .csv: "text/csv; charset=utf-8; header=present"
        case .kml: "application/vnd.google-earth.kml+xml"
        case .atom: "application/atom+xml; charset=utf-8"
        }
    }
}
