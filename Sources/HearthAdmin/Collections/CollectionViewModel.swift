import DocumentModel
import HearthAPI

/// The view model shared by the views of a collection: heading, paging, views, filters, export and damaged files.
struct CollectionViewModel: Sendable {
    let results: CollectionResults
    /// The existing documents of the result page.
    let documents: [Document]
    /// The fields of the documents, including fields of maps.
    let fields: [FieldPath]
    /// The colors in the documents.
    let colors: ColorCollector
    /// The geo points in the documents.
    let geoPoints: GeoPointCollector
    private let heading: PathHeading
    private let views: [LinkOption]
    private let sizes: [LinkOption]
    private let firstURL: String?
    private let previousURL: String?
    private let nextURL: String?
    private let count: String
    private let damaged: DamagedFileList?
    private let filters: FilterFormView
    /// The equivalent call; nil when the query is invalid.
    private let call: CallSnippet?
    private let exportForm: ExportForm

    /// - Parameters:
    ///   - count: The number of all matching documents; nil when it isn't known.
    ///   - commands: Formats the shell commands to copy.
    init(_ results: CollectionResults, count: BoundedCount?, commands: ShellCommands) {
        self.results = results
        let request = results.request
        documents = results.documents
        fields = CollectionColumns.fields(of: documents)
        var colors = ColorCollector()
        var geoPoints = GeoPointCollector()
        for document in documents {
            LeafFieldVisitor.forEachValue(of: document) { value, path in
                colors.collect(value, in: document, path: path)
                geoPoints.collect(value, in: document, path: path)
            }
        }
        self.colors = colors
        self.geoPoints = geoPoints
        heading = PathHeading(request.path.segments)
        let (hasGeoPoints, hasColors) = (!geoPoints.matches.isEmpty, !colors.matches.isEmpty)
        let views: [(CollectionRequest.View, String, Bool)] = [
            (.table, localized("Table"), true), (.map, localized("Map"), hasGeoPoints),
            (.colors, localized("Colors"), hasColors), (.json, "JSON", true), (.types, localized("Types"), true),
        ]
        self.views = views.filter { $0.2 || $0.0 == request.view }.map { view, text, _ in
            LinkOption(text: text, url: request.url { $0.view = view }, isCurrent: view == request.view)
        }
        sizes = (request.hasSelectableSize ? CollectionRequest.sizes : []).map { size in
            LinkOption(
                text: NumberFormat.grouped(size.count),
                url: request.url { $0.size = size },
                isCurrent: size == request.size
            )
        }
        firstURL = request.cursor == nil ? nil : request.url { $0.cursor = nil }
        previousURL = results.previous.map { cursor in request.url { $0.cursor = cursor } }
        nextURL = results.next.map { cursor in request.url { $0.cursor = cursor } }
        let shown = documents.count
        self.count =
            if results.isComplete {
                localized(count: shown, one: "{count} document", other: "{count} documents")
            } else if let count {
                localized("{shown} of {total} documents", ["shown": NumberFormat.grouped(shown), "total": count.text])
            } else {
                localized(count: shown, one: "{count} document on this page", other: "{count} documents on this page")
            }
        damaged = DamagedFileList(results.damaged)
        filters = FilterFormView(request, fields: fields)
        call = results.call.params.utf8.isEmpty ? nil : CallSnippet(results.call, commands: commands)
        exportForm = ExportForm(request, hasGeoPoints: hasGeoPoints)
    }
}

extension CollectionViewModel: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "viewsMarkup": views.itemsMarkup(current: "page")
        case "sizesMarkup": sizes.itemsMarkup(current: "true")
        case "hasSizes": !sizes.isEmpty
        case "firstURL": firstURL.orAbsent
        case "previousURL": previousURL.orAbsent
        case "nextURL": nextURL.orAbsent
        case "hasPages": firstURL != nil || previousURL != nil || nextURL != nil
        case "hasCount": results.error == nil
        case "count": count
        case "damaged": damaged.orAbsent
        case "filterForm": filters
        case "call": call.orAbsent
        case "liveStream": results.liveStream.orAbsent
        case "exportForm": exportForm
        case "queryError": (results.error.map { DisplayText($0.message) }).orAbsent
        case "isEmpty": results.entries.isEmpty && results.damaged.isEmpty && results.error == nil
        case "newURL": EditTarget(newIn: results.request.path).url(asJSON: false)
        case "deleteURL": AdminURL.collection(results.request.path) + "?delete"
        case "canDeleteFound": results.request.isFilter && results.error == nil && !results.entries.isEmpty
        case "deleteFoundURL": AdminURL.delete(matching: results.request)
        case "isQuery": results.request.isQuery
        case "hasEmptyQuery": results.request.isQuery && results.entries.isEmpty && results.error == nil
        case "plainURL": results.request.url { ($0.filters, $0.orders, $0.cursor) = ([], [], nil) }
        default: heading.child(named: name)
        }
    }
}
