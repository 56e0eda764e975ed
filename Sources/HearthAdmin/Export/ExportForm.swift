import UTF8Text

/// The form that exports the documents of a collection, all or filtered.
struct ExportForm: Sendable {
    private let action: String
    private let hiddenFields: [FormOption]
    private let formats: [FormOption]
    private let feedURL: String

    init(_ request: CollectionRequest, hasGeoPoints: Bool) {
        action = AdminURL.collection(request.path)
        var rest = request
        rest.cursor = nil
        rest.view = .table
        hiddenFields = FilterFormView.hiddenFields(of: rest)
        let shown: [ExportFormat] = [.ndjson, .json, .csv] + (hasGeoPoints ? [.kml] : [])
        formats = shown.map { format in
            FormOption(format.rawValue, format.name, isSelected: format == .ndjson)
        }
        feedURL = AdminURL.collection(request.path, query: [("export", "atom")])
    }
}

extension ExportForm: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "action": action
        case "hiddenFields": hiddenFields
        case "formatsMarkup": formats.optionsMarkup
        case "feedURL": feedURL
        default: nil
        }
    }
}
