import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// The address that the form of a collection's filters leads to, once all of its rows can be read; nil for everything else.
    func finishedForm(at segments: [UTF8Key], query: Query) -> String? {
        guard case .collection(let path)? = try? DataPath(segments),
            let request = try? CollectionRequest(path: path, query: query),
            let form = FilterForm(query, of: request), !form.isUnfinished
        else { return nil }
        return form.request.url()
    }

    /// A page of a collection, as its address asks for it.
    func collectionPage(_ path: CollectionPath, query: Query, curl: CurlCommand) async throws(StatusError) -> any Page {
        var request = try CollectionRequest(path: path, query: query)
        if let form = FilterForm(query, of: request) { request = form.request }
        let listing = try await CollectionListing(request, in: context)
        let frame = CollectionFrame(listing, count: await CollectionCount(listing, in: context), curl: curl)
        // Where there are no documents since the filters can't be read, there is nothing but their form to show.
        guard listing.fault == nil else { return CollectionTablePage(frame) }
        return switch request.view {
        case .table: CollectionTablePage(frame)
        case .map: CollectionMapPage(frame)
        case .colors: CollectionColorsPage(frame)
        case .json: CollectionJSONPage(frame)
        case .types: try await CollectionTypesPage(frame, in: context)
        }
    }
}
