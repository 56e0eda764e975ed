import UTF8Text

/// The form that exports the documents of a collection, all or filtered.
struct ExportForm: ViewModel {
    private let action: String
    private let hiddenFields: [HiddenField]
    private let formatsMarkup: Markup
    private let feedURL: String

    init(_ request: CollectionRequest, hasGeoPoints: Bool) {
        action = AdminURL.collection(request.path)
        var rest = request
        rest.cursor = nil
        rest.view = .table
        hiddenFields = FilterFormView.hiddenFields(of: rest)
        let shown: [ExportFormat] = [.ndjson, .json, .csv] + (hasGeoPoints ? [.kml] : [])
        formatsMarkup = shown.map { FormOption($0.rawValue, $0.name, isSelected: $0 == .ndjson) }.optionsMarkup
        feedURL = AdminURL.collection(request.path, query: [("export", "atom")])
    }
}
