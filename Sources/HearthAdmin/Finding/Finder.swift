import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The search for collections, documents and pages by path, ID or name, with the rights of the caller.
///
/// A search reads the names of at most 1,000 root collections, looks up the ID in at most 250 collections, and reads at most 1,000
/// documents to find subcollections. Suggestions while typing skip the subcollections.
struct Finder: Sendable {
    let request: AdminRequest
    /// The collection or document of the page with the search box.
    let location: ResourcePath?

    private var context: ServiceContext { request.context }

    /// The maximum number of matches of each kind on the page of results.
    static let resultLimit = 50
    /// The maximum number of suggestions of each kind.
    static let suggestionLimit = 8
    private static let lookupLimit = 250
    private static let scannedDocumentLimit = 1_000

    /// Finds all that a text may mean.
    ///
    /// - Parameter isSuggestion: Whether the text may be incomplete, so that a part of it is searched for and subcollections are not.
    func results(for input: FinderInput, isSuggestion: Bool) async -> FinderResults {
        var results = FinderResults()
        let limit = isSuggestion ? Self.suggestionLimit : Self.resultLimit
        switch input.target {
        case .nothing: break
        case .page(let url): results.destination = url
        case .invalid(let reason): results.problem = reason
        case .path(let path): await find(path, isSuggestion: isSuggestion, in: &results)
        case .term(let term): await find(term, isSuggestion: isSuggestion, limit: limit, in: &results)
        }
        if results.destination == nil || isSuggestion, let (parent, prefix) = input.completion {
            await complete(prefix, below: parent, limit: limit, in: &results)
        }
        return results
    }
}

extension Finder {
    /// Looks up a path.
    private func find(_ path: ResourcePath, isSuggestion: Bool, in results: inout FinderResults) async {
        do throws(StatusError) {
            guard try await exists(path) else {
                results.missing = path
                return
            }
            results.destination = AdminURL.resource(path)
            guard isSuggestion else { return }
            switch path {
            case .collection(let path): results.add([path], atMost: 1)
            case .document(let path): results.add([path], atMost: 1)
            }
        } catch {
            results.problem = request.environment.errors.presentable(error).message
        }
    }

    /// Finds a document ID, and collections and commands whose name contains a term.
    private func find(_ term: String, isSuggestion: Bool, limit: Int, in results: inout FinderResults) async {
        let roots = await rootCollections(in: &results)
        var exact = roots.first { $0.string.utf8.elementsEqual(term.utf8) }
        if exact == nil, results.isPartial, let path = try? CollectionPath(term) {
            // It may be one of those that were not listed.
            let isFound = await request.resultIfPermitted { () async throws(StatusError) in try await exists(.collection(path)) }
            if isFound == true { exact = path }
        }
        if let root = exact {
            results.destination = AdminURL.collection(root)
            results.add([root], atMost: limit)
        }
        results.add(roots.filter { Self.contains($0, term) }, atMost: limit)
        results.add(PageCommand.all(for: request.principal, at: location).filter { $0.matches(term) }, atMost: limit)
        var searched = roots + (context.caller.collections ?? []) + (location?.collections ?? [])
        if isSuggestion {
            if case .collection(let path)? = location {
                results.add(await documents(in: path, beginningWith: term, limit: limit, in: &results), atMost: limit)
            }
        } else {
            let subcollections = await subcollections(below: searched, in: &results)
            results.add(subcollections.filter { Self.contains($0, term) }, atMost: limit)
            searched += subcollections
        }
        guard let id = documentID(term, in: &results) else { return }
        results.add(await documents(with: id, in: searched, in: &results), atMost: limit)
    }

    /// Completes the last ID of a path.
    private func complete(_ prefix: String, below parent: ResourcePath, limit: Int, in results: inout FinderResults) async {
        switch parent {
        case .collection(let path):
            results.add(await documents(in: path, beginningWith: prefix, limit: limit, in: &results), atMost: limit)
        case .document(let path):
            let page = await request.resultIfPermitted { () async throws(StatusError) in
                try await ListCollections.call(.init(parent: path), in: context)
            }
            let found = (page?.collections ?? []).map(path.collection)
            results.add(found.filter { prefix.utf8.isEmpty || Self.contains($0, prefix) }, atMost: limit)
        }
    }

    /// Returns whether anything is at a path: a readable or damaged document, or documents below it.
    private func exists(_ path: ResourcePath) async throws(StatusError) -> Bool {
        switch path {
        case .collection(let path):
            let page = try await ListDocuments.call(
                .init(collection: path, pageSize: 1, mask: [], showMissing: true),
                in: context
            )
            return !page.documents.isEmpty || !page.damaged.isEmpty
        case .document(let path):
            if try await isDocument(path) { return true }
            return try await !ListCollections.call(.init(parent: path, pageSize: 1), in: context).collections.isEmpty
        }
    }

    private func isDocument(_ path: DocumentPath) async throws(StatusError) -> Bool {
        do throws(StatusError) {
            _ = try await GetDocument.call(.init(path: path, mask: []), in: context)
            return true
        } catch {
            switch error.code {
            case .notFound: return false
            case .dataLoss: return true
            default: throw error
            }
        }
    }

    private func rootCollections(in results: inout FinderResults) async -> [CollectionPath] {
        let page = await request.resultIfPermitted { () async throws(StatusError) in
            try await ListCollections.call(.init(pageSize: 1_000), in: context)
        }
        if page == nil || page?.next != nil { results.isPartial = true }
        return (page?.collections ?? []).map { CollectionPath(parent: nil, id: $0) }
    }

    /// Finds subcollections in the first documents of collections.
    private func subcollections(below collections: [CollectionPath], in results: inout FinderResults) async -> [CollectionPath] {
        let searched = collections.prefix(Self.lookupLimit)
        if searched.count < collections.count { results.isPartial = true }
        let limit = Self.scannedDocumentLimit / max(1, searched.count)
        var found: [CollectionPath] = []
        for collection in searched {
            let scan = await request.resultIfPermitted { () async throws(StatusError) in
                try await SubcollectionScan(below: collection, limit: limit, in: context)
            }
            if scan?.isComplete != true { results.isPartial = true }
            found += (scan?.subcollections ?? []).filter { !found.contains($0) }
        }
        return found
    }

    /// Returns a term as a document ID; `nil` with a note if it cannot be one.
    private func documentID(_ term: String, in results: inout FinderResults) -> DocumentPath.ID? {
        do throws(StatusError) {
            return try DocumentPath.ID(term)
        } catch {
            if results.isEmpty { results.problem = error.message }
            return nil
        }
    }

    /// Returns the documents with an ID.
    private func documents(
        with id: DocumentPath.ID,
        in collections: [CollectionPath],
        in results: inout FinderResults
    ) async -> [DocumentPath] {
        var paths: [DocumentPath] = []
        for collection in collections where !paths.contains(where: { $0.collection == collection }) {
            paths.append(collection.document(id))
        }
        if paths.count > Self.lookupLimit { results.isPartial = true }
        let outcomes = await Array(paths.prefix(Self.lookupLimit)).concurrentMap(width: 4) { path in
            (path, await request.resultIfPermitted { () async throws(StatusError) in try await isDocument(path) })
        }
        if outcomes.contains(where: { $0.1 == nil }) { results.isPartial = true }
        return outcomes.filter { $0.1 == true }.map(\.0)
    }

    /// Returns the first documents of a collection whose ID begins with a text.
    private func documents(
        in collection: CollectionPath,
        beginningWith prefix: String,
        limit: Int,
        in results: inout FinderResults
    ) async -> [DocumentPath] {
        let first: StructuredQuery.Cursor? = prefix.utf8.isEmpty ? nil : .init([.string(prefix)], isInclusive: true)
        let found = await request.resultIfPermitted { () async throws(StatusError) in
            let query = StructuredQuery(
                .collection(collection),
                orders: [StructuredQuery.Order(.field(.documentName))],
                start: first,
                limit: .first(limit + 1),
                projection: [.documentName]
            )
            // Text that is not an ID, such as one dot, is not the position of a cursor.
            guard let normalized = try? NormalizedQuery(query) else { return [DocumentPath]() }
            return try await RunQuery.call(.init(normalized), in: context).documents.map(\.path)
        }
        if found == nil { results.isPartial = true }
        return (found ?? []).filter { $0.id.key.utf8.starts(with: prefix.utf8) }
    }

    /// Returns whether the ID of a collection contains a text, ignoring case.
    private static func contains(_ collection: CollectionPath, _ text: String) -> Bool {
        collection.id.key.string.lowercased().utf8.firstRange(of: text.lowercased().utf8) != nil
    }
}
