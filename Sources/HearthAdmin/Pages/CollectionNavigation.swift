import DocumentModel
import HearthService
import StrictJSON

/// What the views of a collection have in common: its name, the ways to other parts and views of it, its damaged files.
struct CollectionNavigation: Sendable {
    private let heading: PathHeading
    private let views: [Choice]
    private let sizes: [Choice]
    private let firstURL: String?
    private let nextURL: String?
    private let count: String
    private let damaged: DamagedFiles?
    private let isEmpty: Bool

    init(_ listing: CollectionListing, hasPlaces: Bool) {
        let request = listing.request
        heading = PathHeading(request.path.segments)
        let views: [(CollectionRequest.View, String)] =
            [(.table, localized("Table"))] + (hasPlaces || request.view == .map ? [(.map, localized("Map"))] : [])
        self.views = views.map { view, text in
            Choice(
                text: text,
                url: request.url(view: view, after: request.after, showsWorld: false),
                isCurrent: view == request.view
            )
        }
        sizes = CollectionRequest.sizes.map { size in
            Choice(
                text: Counting.grouped(size.count),
                url: request.url(after: request.after, size: size),
                isCurrent: size == request.size
            )
        }
        firstURL = request.after == nil ? nil : request.url(after: nil)
        nextURL = listing.next.map { request.url(after: $0) }
        let documents = listing.documents.count
        let isWhole = request.after == nil && listing.next == nil
        count =
            isWhole
            ? localized(count: documents, one: "{count} document", other: "{count} documents")
            : localized(count: documents, one: "{count} document on this page", other: "{count} documents on this page")
        damaged = DamagedFiles(listing.damaged)
        isEmpty = listing.entries.isEmpty && listing.damaged.isEmpty
    }
}

extension CollectionNavigation: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "views": views
        case "hasViews": views.count > 1
        case "sizes": sizes
        case "firstURL": firstURL.orAbsent
        case "nextURL": nextURL.orAbsent
        case "hasPages": firstURL != nil || nextURL != nil
        case "count": count
        case "damaged": damaged.orAbsent
        case "isEmpty": isEmpty
        default: heading.child(named: name)
        }
    }
}
