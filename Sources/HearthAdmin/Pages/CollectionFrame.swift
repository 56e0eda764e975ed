import DocumentModel
import HearthService
import StrictJSON

/// What the views of a collection have in common: its name, the ways to other parts and views of it, its filters and damaged files.
struct CollectionFrame: Sendable {
    let listing: CollectionListing
    /// The documents of the listing that exist.
    let documents: [Document]
    /// The fields that they have, and that the maps in them have.
    let fields: [FieldPath]
    /// The colours in the documents.
    let colors: FoundColors
    /// The places in the documents.
    let places: GeoPlaces
    private let heading: PathHeading
    private let views: [Choice]
    private let sizes: [Choice]
    private let firstURL: String?
    private let previousURL: String?
    private let nextURL: String?
    private let count: String
    private let damaged: DamagedFiles?
    private let filters: FilterFormView
    /// Nil where the address asks for what no call can.
    private let call: CallView?
    private let exportForm: ExportForm

    /// - Parameters:
    ///   - count: How many documents there are; nil when that isn't known.
    ///   - curl: How the server is called, for the lines to copy.
    init(_ listing: CollectionListing, count: CollectionCount?, curl: CurlCommand) {
        self.listing = listing
        let request = listing.request
        documents = listing.documents
        fields = CollectionColumns.fields(of: documents)
        var colors = FoundColors()
        var places = GeoPlaces()
        for document in documents {
            FieldWalk.forEachValue(of: document) { value, name in
                colors.look(at: value, in: document, named: name)
                places.look(at: value, in: document, named: name)
            }
        }
        self.colors = colors
        self.places = places
        heading = PathHeading(request.path.segments)
        let (hasPlaces, hasColors) = (!places.found.isEmpty, !colors.found.isEmpty)
        let views: [(CollectionRequest.View, String, Bool)] = [
            (.table, localized("Table"), true), (.map, localized("Map"), hasPlaces),
            (.colors, localized("Colours"), hasColors), (.json, "JSON", true), (.types, localized("Types"), true),
        ]
        self.views = views.filter { $0.2 || $0.0 == request.view }.map { view, text, _ in
            Choice(text: text, url: request.url { $0.view = view }, isCurrent: view == request.view)
        }
        sizes = (request.hasSizes ? CollectionRequest.sizes : []).map { size in
            Choice(text: Counting.grouped(size.count), url: request.url { $0.size = size }, isCurrent: size == request.size)
        }
        firstURL = request.cursor == nil ? nil : request.url { $0.cursor = nil }
        previousURL = listing.previous.map { cursor in request.url { $0.cursor = cursor } }
        nextURL = listing.next.map { cursor in request.url { $0.cursor = cursor } }
        let shown = documents.count
        self.count =
            if listing.isWhole {
                localized(count: shown, one: "{count} document", other: "{count} documents")
            } else if let count {
                localized("{shown} of {total} documents", ["shown": Counting.grouped(shown), "total": count.text])
            } else {
                localized(count: shown, one: "{count} document on this page", other: "{count} documents on this page")
            }
        damaged = DamagedFiles(listing.damaged)
        filters = FilterFormView(request, fields: fields)
        call = listing.call.params.utf8.isEmpty ? nil : CallView(listing.call, curl: curl)
        exportForm = ExportForm(request, hasPlaces: hasPlaces)
    }
}

extension CollectionFrame: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "viewsMarkup": views.itemsMarkup(current: "page")
        case "sizesMarkup": sizes.itemsMarkup(current: "true")
        case "hasSizes": !sizes.isEmpty
        case "firstURL": firstURL.orAbsent
        case "previousURL": previousURL.orAbsent
        case "nextURL": nextURL.orAbsent
        case "hasPages": firstURL != nil || previousURL != nil || nextURL != nil
        case "hasCount": listing.fault == nil
        case "count": count
        case "damaged": damaged.orAbsent
        case "filterForm": filters
        case "call": call.orAbsent
        case "live": listing.live.orAbsent
        case "exportForm": exportForm
        case "fault": (listing.fault.map { DisplayText($0.message) }).orAbsent
        case "isEmpty": listing.entries.isEmpty && listing.damaged.isEmpty && listing.fault == nil
        case "newURL": EditTarget(newIn: listing.request.path).url(asJSON: false)
        case "deleteURL": AdminURL.collection(listing.request.path) + "?delete"
        case "canDeleteFound": listing.request.isFilter && listing.fault == nil && !listing.entries.isEmpty
        case "deleteFoundURL": AdminURL.delete(found: listing.request)
        case "isQuery": listing.request.isQuery
        case "hasEmptyQuery": listing.request.isQuery && listing.entries.isEmpty && listing.fault == nil
        case "plainURL": listing.request.url { ($0.filters, $0.orders, $0.cursor) = ([], [], nil) }
        default: heading.child(named: name)
        }
    }
}
