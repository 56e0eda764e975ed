import StrictJSON

/// The form by which documents are exported: of the whole collection, or of what its filters find.
struct ExportForm: Sendable {
    private let action: String
    private let kept: [Option]
    private let formats: [Option]
    private let feedURL: String

    init(_ request: CollectionRequest, hasPlaces: Bool) {
        action = AdminURL.collection(request.path)
        var rest = request
        rest.cursor = nil
        rest.view = .table
        kept = FilterFormView.items(of: rest)
        let shown: [ExportFormat] = [.ndjson, .json, .csv] + (hasPlaces ? [.kml] : [])
        formats = shown.map { format in
            Option(format.rawValue, format.name, isCurrent: format == .ndjson)
        }
        feedURL = AdminURL.collection(request.path, query: [("export", "atom")])
    }
}

extension ExportForm: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "action": action
        case "kept": kept
        case "formatsMarkup": formats.listMarkup
        case "feedURL": feedURL
        default: nil
        }
    }
}
