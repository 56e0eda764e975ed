import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI

extension AdminRequest {
    /// The root collections that every page lists; `nil` if the caller may not list them or they cannot be read.
    var roots: CollectionPage? {
        get async {
            await resultIfPermitted { () async throws(StatusError) in
                try await ListCollections.call(.init(pageSize: LayoutView.rootCollectionLimit), in: context)
            }
        }
    }

    /// The tree of collections for the side list of a page; `nil` for the overview, which lists the collections itself, and without any.
    ///
    /// Costs a query that reads at most 50 documents of the collection that the page shows, and a list of collections on the page of a
    /// document.
    private func tree(of roots: CollectionPage?, for layout: PageLayout) async -> CollectionTree? {
        let ids = roots?.collections ?? []
        guard !ids.isEmpty, layout.section != .overview else { return nil }
        var known: [CollectionPath] = []
        var isComplete = true
        if let resource = layout.resource, let collection = resource.collections.last {
            let scan = await resultIfPermitted { () async throws(StatusError) in
                try await SubcollectionScan(below: collection, limit: 50, in: context)
            }
            known = scan?.children(of: collection) ?? []
            isComplete = scan?.isComplete ?? false
            if case .document(let path) = resource {
                let page = await resultIfPermitted { () async throws(StatusError) in
                    try await ListCollections.call(.init(parent: path, pageSize: 50), in: context)
                }
                known += (page?.collections ?? []).map(path.collection)
            }
        }
        let paths = ids.map { CollectionPath(parent: nil, id: $0) }
        return CollectionTree(paths, at: layout.resource, known: known, isComplete: isComplete)
    }

    /// Renders a page in the common layout.
    func respond(with page: some Page) async -> PageResponse {
        await respond(with: page, roots: roots)
    }

    /// Renders a page in the common layout.
    ///
    /// - Parameter roots: The root collections, which have already been read.
    func respond(with page: some Page, roots: CollectionPage?) async -> PageResponse {
        let nonce = environment.nonce()
        let assets = environment.assets
        let layout = LayoutView(
            page,
            roots: roots,
            tree: await tree(of: roots, for: page.layout),
            files: assets.files,
            pageURL: http.pathAndQuery,
            preferences: preferences,
            scope: scope,
            account: AccountView(principal, keys: context.keys, isEmulator: context.rulesRegistry.isEmulator),
            hasEngine: context.databases?.engineStatus != nil,
            requestID: http.requestID,
            nonce: nonce
        )
        var response = PageResponse.page(
            assets.templates.render(layout, with: type(of: page).template),
            status: page.status,
            language: preferences.language,
            nonce: nonce
        )
        response.headers[.retryAfter] = page.retryDelay.map { "\($0.components.seconds + 1)" }
        return scope.flash == nil ? response : response.settingCookie(Flash.expiredCookie)
    }

    /// Responds with an error page. Only server errors are logged, and the message of an internal one is not shown.
    func respond(to error: StatusError) async -> PageResponse {
        if let page = await damagedDocumentPage(for: error) { return await respond(with: page) }
        return await respond(with: ErrorPage(environment.errors.presentable(error)))
    }

    /// Returns the page of the document whose damaged file caused the error; `nil` for any other error.
    private func damagedDocumentPage(for error: StatusError) async -> DamagedDocumentPage? {
        guard error.code == .dataLoss, error.file != nil, let path = error.path.flatMap({ try? DocumentPath($0) }),
            let subcollections = try? await SubcollectionList(of: path, in: context)
        else { return nil }
        return DamagedDocumentPage(path, error, subcollections: subcollections, status: .conflict)
    }

    /// Reads an optional part of a page; `nil` if the caller lacks the permission or the read fails. Server errors are logged.
    func resultIfPermitted<Result>(_ read: () async throws(StatusError) -> Result) async -> Result? {
        do throws(StatusError) {
            return try await read()
        } catch {
            _ = environment.errors.presentable(error)
            return nil
        }
    }
}
