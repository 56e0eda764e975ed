import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The search for collections, documents and pages by path, ID or name, with the rights of the caller.
///
/// A search reads the names of at most 1,000 root collections, looks up the ID and reads the range of IDs that begin with it in
/// at most 250 collections, until the limit of matches is exceeded, and reads at most 1,000 documents to find subcollections.
/// Suggestions while typing skip the subcollections, and read only the ranges of at most 32 collections.
///
/// The stored sizes of collections tell whether documents remain in subcollections that were not found.
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
    private static let suggestionLookupLimit = 32
    private static let sizeLimit = 250
    /// The number of collections whose IDs are read before the matches are counted.
    private static let rangeBatchCount = 8
    private static let scannedDocumentLimit = 1_000

    /// Finds all that a text may mean.
    ///
    /// - Parameters:
    ///   - isSuggestion: Whether the text may be incomplete, so that a part of it is searched for and subcollections are not.
    ///   - limit: The maximum number of matches of each kind.
    func results(for input: FinderInput, isSuggestion: Bool, limit: Int) async -> FinderResults {
        var results = FinderResults()
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

    /// Finds documents whose ID is a term or begins with it, and collections and commands whose name contains it.
    private func find(_ term: String, isSuggestion: Bool, limit: Int, in results: inout FinderResults) async {
        let roots = await rootCollections(in: &results)
        var exact = roots.first { $0.string.utf8.elementsEqual(term.utf8) }
        if exact == nil, results.omissions.contains(.collections), let path = try? CollectionPath(term) {
            // It may be one of those that were not listed.
            let isFound = await request.resultIfPermitted { () async throws(StatusError) in try await exists(.collection(path)) }
            if isFound == true { exact = path }
        }
        if let root = exact {
            results.destination = AdminURL.collection(root)
            results.add([root], atMost: limit)
        }
        results.add(roots.filter { Self.contains($0, term) }, atMost: limit)
        let commands = PageCommand.all(for: request.principal, at: location).filter { $0.matches(term) }
        results.add(commands, atMost: limit)
        // The collection of the page comes first.
        var searched: [CollectionPath] = []
        func search(_ collections: [CollectionPath]) {
            let known = Set(searched)
            searched += collections.filter { !known.contains($0) }
        }
        search(location?.collections.reversed() ?? [])
        search(context.caller.collections ?? [])
        search(roots)
        var found = roots
        if !isSuggestion {
            let subcollections = await subcollections(below: searched, in: &results)
            found += subcollections
            results.add(found.filter { Self.contains($0, term) }, atMost: limit)
            search(subcollections)
        }
        func hasName(_ path: CollectionPath) -> Bool { path != exact && path.id.key.utf8.elementsEqual(term.utf8) }
        let namesakes = Set(found.filter(hasName))
        var named = commands.filter { $0.isNamed(term) }.map(\.url) + namesakes.map { AdminURL.collection($0) }
        let id = documentID(term, in: &results)
        let lookupLimit = isSuggestion ? Self.suggestionLookupLimit : Self.lookupLimit
        if id != nil, searched.count > lookupLimit {
            results.omissions.insert(.collections)
            searched.removeLast(searched.count - lookupLimit)
        }
        if !isSuggestion {
            // The range of a text begins with the ID itself.
            let documents = if let id { await documents(with: id, in: searched, in: &results) } else { [DocumentPath]() }
            results.add(documents, atMost: limit)
            named += documents.map { AdminURL.document($0) }
            // Another document or collection of this name may be where nothing was searched, but no other page. The page's own subcollection
            // is found in the first documents only.
            let isOfPage = location?.collections.contains(where: hasName) == true && namesakes.isEmpty
            let isCertain = results.omissions.isEmpty && !isOfPage || commands.contains { $0.isNamed(term) }
            if named.count == 1, isCertain, results.destination == nil { results.destination = named[0] }
        }
        guard id != nil, isSuggestion || results.destination == nil else { return }
        await addDocuments(beginningWith: term, in: searched, limit: limit, to: &results)
    }

    /// Completes the last ID of a path.
    private func complete(_ prefix: String, below parent: ResourcePath, limit: Int, in results: inout FinderResults) async {
        switch parent {
        case .collection(let path):
            await addDocuments(beginningWith: prefix, in: [path], limit: limit, to: &results)
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
            _ = try await GetDocument.document(.init(path: path, mask: []), in: context)
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
        if page == nil || page?.next != nil { results.omissions.insert(.collections) }
        return (page?.collections ?? []).map { CollectionPath(parent: nil, id: $0) }
    }

    /// Finds subcollections in the first documents of collections.
    private func subcollections(below collections: [CollectionPath], in results: inout FinderResults) async -> [CollectionPath] {
        let searched = collections.prefix(Self.lookupLimit)
        var isComplete = searched.count == collections.count
        let limit = Self.scannedDocumentLimit / max(1, searched.count)
        var found: [CollectionPath] = []
        for collection in searched {
            let scan = await request.resultIfPermitted { () async throws(StatusError) in
                try await SubcollectionScan(below: collection, limit: limit, in: context)
            }
            if scan?.isComplete != true { isComplete = false }
            found += (scan?.subcollections ?? []).filter { !found.contains($0) }
        }
        if !isComplete, searched.count == collections.count {
            isComplete = await areAllDocuments(in: collections + found.filter { !collections.contains($0) })
        }
        if !isComplete { results.omissions.insert(.subcollections) }
        return found
    }

    /// Returns whether all documents of the database are in the given collections, according to their stored sizes.
    private func areAllDocuments(in collections: [CollectionPath]) async -> Bool {
        guard collections.count <= Self.sizeLimit, let total = await documentCount(of: nil) else { return false }
        var rest = total
        for collection in collections where rest > 0 {
            guard let count = await documentCount(of: collection) else { return false }
            rest -= count
        }
        return rest <= 0
    }

    private func documentCount(of collection: CollectionPath?) async -> Int? {
        await request.resultIfPermitted { () async throws(StatusError) in
            try await GetCollectionSize.call(.init(collection: collection), in: context).documentCount
        }
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
        let outcomes = await collections.map { $0.document(id) }.concurrentMap(width: 4) { path in
            (path, await request.resultIfPermitted { () async throws(StatusError) in try await isDocument(path) })
        }
        if outcomes.contains(where: { $0.1 == nil }) { results.omissions.insert(.collections) }
        return outcomes.filter { $0.1 == true }.map(\.0)
    }

    /// Adds the documents of collections whose ID begins with a text, until there are more than the limit.
    private func addDocuments(
        beginningWith prefix: String,
        in collections: [CollectionPath],
        limit: Int,
        to results: inout FinderResults
    ) async {
        var remaining = collections[...]
        while !remaining.isEmpty, results.documents.count < limit || !results.hasMore {
            let found = await Array(remaining.prefix(Self.rangeBatchCount)).concurrentMap(width: 4) { collection in
                await documents(beginningWith: prefix, in: collection, limit: limit)
            }
            if found.contains(where: { $0 == nil }) { results.omissions.insert(.collections) }
            for case let documents? in found { results.add(documents, atMost: limit) }
            remaining = remaining.dropFirst(Self.rangeBatchCount)
        }
    }

    /// Returns the first documents of a collection whose ID begins with a text, at most one more than the limit; `nil` if the
    /// caller may not read them.
    private func documents(beginningWith prefix: String, in collection: CollectionPath, limit: Int) async -> [DocumentPath]? {
        // No scalar follows the last one in the order of IDs, except that numeric IDs such as `__id5__` have an order of their
        // own: only an exact lookup finds those. The scalar may make the text longer than an ID.
        let last = try? DocumentPath.ID(prefix + "\u{10FFFF}")
        let found = await request.resultIfPermitted { () async throws(StatusError) in
            let query = StructuredQuery(
                .collection(collection),
                orders: [StructuredQuery.Order(.field(.documentName))],
                start: prefix.utf8.isEmpty ? nil : .init([.string(prefix)], isInclusive: true),
                end: last.map { .init([.string($0.key.string)], isInclusive: true) },
                limit: .first(limit + 1),
                projection: [.documentName]
            )
            // Text that is not an ID, such as one dot, is not the position of a cursor.
            guard let normalized = try? NormalizedQuery(query) else { return [DocumentPath]() }
            return try await RunQuery.call(.init(normalized), in: context).documents.map(\.path)
        }
        return found?.filter { $0.id.key.utf8.starts(with: prefix.utf8) }
    }

    /// Returns whether the ID of a collection contains a text, ignoring case.
    private static func contains(_ collection: CollectionPath, _ text: String) -> Bool {
        collection.id.key.string.lowercased().utf8.firstRange(of: text.lowercased().utf8) != nil
    }
}
