import StrictJSON

/// A form in which documents leave the pages.
enum ExportFormat: String, CaseIterable, Sendable {
    /// A document a line, lossless.
    case ndjson
    /// One array of documents, lossless.
    case json
    /// A table.
    case csv
    /// The geo points, for programs with maps.
    case kml
    /// The latest changes, for readers of feeds.
    case atom

    /// Reads the name in an address.
    init?(_ name: UTF8Key) {
        guard let format = Self.allCases.first(where: { UTF8Key($0.rawValue) == name }) else { return nil }
        self = format
    }

    /// How the format is called.
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
