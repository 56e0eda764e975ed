import DocumentModel
import HearthAPI
import StrictJSON
import UTF8Text

/// The controller for the search box of every page: the page of results, and suggestions while typing.
struct FinderController {
    let request: AdminRequest

    /// Redirects to what the text names, or shows what was found; returns JSON for a request with `suggest`, for the input of a reference
    /// with `suggest=references`.
    func respond() async -> PageResponse {
        if let text = request.query["below"] { return await subcollections(below: text.string) }
        let text = request.query["q"] ?? ""
        let location = request.query["from"].flatMap { ResourcePath(encoded: $0) }
        if request.query["suggest"] == "references" {
            return .json(await ReferenceSuggestions(for: text.string, in: location?.collections.last, for: request).json)
        }
        let input = FinderInput(text)
        let finder = Finder(request: request, location: location)
        let isSuggestion = request.query["suggest"] != nil
        let limit = isSuggestion ? Finder.suggestionLimit : Finder.resultLimit
        let results = await finder.results(for: input, isSuggestion: isSuggestion, limit: limit)
        if isSuggestion { return .json(Self.suggestions(results)) }
        if let destination = results.destination { return .seeOther(destination) }
        return await request.respond(with: FinderPage(results, for: input))
    }

    /// Lists the subcollections of a collection, as JSON for a request with `suggest`.
    private func subcollections(below text: String) async -> PageResponse {
        do throws(StatusError) {
            let path = try CollectionPath(text)
            let previous: DocumentPath? =
                if let after = request.query["after"] { try DocumentPath(after.string) } else { nil }
            let scan = try await SubcollectionScan(
                below: path,
                after: previous,
                limit: SubcollectionsPage.scanLimit,
                in: request.context
            )
            if request.query["suggest"] != nil { return .json(Self.nodes(scan, below: path)) }
            return await request.respond(with: SubcollectionsPage(scan, of: path))
        } catch {
            return await request.respond(to: error)
        }
    }

    /// Encodes subcollections as JSON for the tree in the side list.
    private static func nodes(_ scan: SubcollectionScan, below path: CollectionPath) -> [UInt8] {
        let children = scan.children(of: path)
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("nodes")
        writer.beginArray()
        for child in children {
            let labels = CollectionTree.Node.labels(of: child).map(\.plain)
            writer.beginObject()
            writer.key("labels")
            writer.beginArray()
            for label in labels { writer.string(label) }
            writer.endArray()
            writer.key("title")
            writer.string(localized("Subcollections of {name}", ["name": labels.joined(separator: "/")]))
            writer.key("url")
            writer.string(AdminURL.collection(child))
            writer.key("below")
            writer.string(AdminURL.subcollections(of: child))
            writer.endObject()
        }
        writer.endArray()
        if let last = scan.last {
            writer.key("next")
            writer.string(AdminURL.subcollections(of: path, after: last))
        }
        writer.key("more")
        writer.string(localized("More subcollections"))
        writer.key("list")
        writer.string(localized("List subcollections"))
        writer.key("note")
        writer.string(children.isEmpty && scan.isComplete ? localized("No subcollections") : "")
        writer.endObject()
        return writer.finish()
    }

    /// Encodes suggestions as JSON.
    private static func suggestions(_ results: FinderResults) -> [UInt8] {
        var writer = JSONWriter()
        var count = 0
        writer.beginObject()
        writer.key("options")
        writer.beginArray()
        func add(_ kind: String, _ text: String, _ url: String, detail: String = "") {
            count += 1
            writer.beginObject()
            writer.key("kind")
            writer.string(kind)
            writer.key("text")
            writer.string(text)
            writer.key("detail")
            writer.string(detail)
            writer.key("url")
            writer.string(url)
            writer.endObject()
        }
        func text(_ path: String) -> String { DisplayText(path.truncatingMiddle(toScalars: maximumTextLength)).plain }
        for path in results.collections { add(localized("Collection"), text(path.string), AdminURL.collection(path)) }
        for path in results.documents { add(localized("Document"), text(path.string), AdminURL.document(path)) }
        for command in results.commands {
            add(localized("Page"), command.title, command.url, detail: command.path.map { text($0.string) } ?? "")
        }
        writer.endArray()
        writer.key("status")
        writer.string(
            count == 0
                ? localized("No suggestions") : localized(count: count, one: "{count} suggestion", other: "{count} suggestions")
        )
        writer.endObject()
        return writer.finish()
    }

    private static let maximumTextLength = 120
}

extension ResourcePath {
    /// Parses a path whose IDs are percent-encoded; `nil` if it is invalid.
    fileprivate init?(encoded text: UTF8Key) {
        var segments: [UTF8Key] = []
        for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = PercentEncoding.decode(part).flatMap({ UTF8Key(validating: $0) }) else { return nil }
            segments.append(segment)
        }
        guard let path = try? ResourcePath(segments) else { return nil }
        self = path
    }
}
