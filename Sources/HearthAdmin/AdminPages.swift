import Crypto
import DocumentModel
import DocumentStore
import HTTPTypes
package import HearthService
import JSONRPC
package import Logging
import StrictJSON

/// The pages of the administration: what is in the database, to look at in a browser.
///
/// ```swift
/// let pages = AdminPages(context: context, assets: try PageAssets(.find()), logger: logger)
/// pages.addRoutes(to: router, streams: streams)
/// ```
///
/// The address of a page mirrors the path of what it shows: `/admin/data/books/hitchhiker`. Pages are whole without
/// script. They read through the service's calls as clients do, in the name of who asks, and know nothing of files.
package struct AdminPages: Sendable {
    private(set) var context: ServiceContext
    /// What the reader of the page wants, and the page's own address.
    private var preferences = Preferences(cookies: Cookies([]), acceptedLanguages: nil)
    private var pageURL = AdminURL.overview
    /// What is documented of the calls.
    let reference = CallReference()
    /// Answers the calls that the documentation's forms ask for.
    let calls: RPCServer<ServiceContext>
    let assets: PageAssets
    let logger: Logger
    let surroundings: Surroundings
    /// How often each address has tried to sign in with what is no key.
    let failures = FailedAttempts(limit: 10)
    /// Keys that were just made.
    let oneTimeTexts = OneTimeTexts()
    /// Files that are to be imported.
    let uploads = Uploads()
    /// What goes on by itself.
    let works: Works
    /// The request that is being answered.
    private(set) var visit = Visit()

    /// What differs from request to request and isn't in the request.
    struct Surroundings: Sendable {
        var now: @Sendable () -> Timestamp = Timestamp.current
        var nonce: @Sendable () -> String = Nonce.make
        /// What the words in forms are made with.
        var formSecret = SymmetricKey(size: .bits256)
        /// How long it takes at least to refuse somebody who signs in.
        var signInTime = Duration.milliseconds(500)
        /// For how long the answer to a form waits for what it has begun.
        var patience = Duration.seconds(2)
        /// The folder in which files are kept that are to be imported.
        var uploadFolder: String
    }

    /// The pages of the databases that a context leads to.
    ///
    /// - Parameter uploadFolder: The folder in which files are kept that are to be imported; they have no names there.
    package init(context: ServiceContext, assets: PageAssets, uploadFolder: String, logger: Logger) {
        let surroundings = Surroundings(uploadFolder: uploadFolder)
        self.init(context: context, assets: assets, logger: logger, surroundings: surroundings)
    }

    init(context: ServiceContext, assets: PageAssets, logger: Logger, surroundings: Surroundings) {
        self.context = context
        self.assets = assets
        calls = RPCServer(
            limits: Self.callLimits(context.server.limits.rpc),
            answers: AnswerBudget(limit: Self.heldAnswerBytes, wait: .seconds(2)),
            logger: logger
        )
        self.logger = logger
        self.surroundings = surroundings
        works = Works(logger: logger)
    }

    /// Answers a request.
    func response(to request: PageRequest) async -> PageResponse {
        var pages = self
        pages.context = context.calling(as: request.visitor.caller)
        pages.visit = Visit(request, secret: surroundings.formSecret, nonce: surroundings.nonce)
        pages.preferences = Preferences(cookies: Cookies(request.cookies), acceptedLanguages: request.acceptedLanguages)
        pages.pageURL = request.address
        return await Texts.$current.withValue(assets.catalogue[pages.preferences.language]) { [pages] in
            await pages.respondInDatabase(to: request)
        }
    }
}

extension AdminPages {
    /// Answers a request in the database that its address names.
    private func respondInDatabase(to request: PageRequest) async -> PageResponse {
        do throws(StatusError) {
            let address = try DatabaseAddress(rawPath: request.path)
            guard let database = address.database else {
                return await respond(to: request, at: AdminRoute(rawPath: request.path))
            }
            if database == context.defaultDatabase { return .redirect(to: address.path + (request.query.map { "?" + $0 } ?? "")) }
            if visit.visitor.isUnknown { return await askToSignIn(for: request) }
            var pages = self
            pages.context = try await context.inDatabase(database)
            return await AdminURL.$database.withValue(database) { [pages] in
                await pages.respond(to: request, at: AdminRoute(rawPath: address.path))
            }
        } catch {
            return await respond(to: error)
        }
    }

    private func respond(to request: PageRequest, at route: AdminRoute) async -> PageResponse {
        let methods = route.methods(with: request.items)
        if route.isKnown, !methods.contains(request.method) {
            if request.method == .options { return .methods(methods) }
            if !visit.visitor.isUnknown { return await respond(with: ProblemPage.wrongMethod).allowing(methods) }
        }
        if visit.visitor.isUnknown, !route.isForEverybody { return await askToSignIn(for: request) }
        if request.items.isMalformed { return await respond(with: ProblemPage.malformedAddress) }
        return switch route {
        case .overview where request.items["new"] != nil:
            await newCollection(for: request)
        case .overview:
            await overview(for: request)
        case .data(let segments):
            if let token = request.items["live"] {
                await follow(segments, after: token, for: request)
            } else if let action = DataAction(request.items) {
                await respond(to: request, at: segments, with: action)
            } else if let location = finishedForm(at: segments, query: request.items) {
                .redirect(to: location)
            } else if let response = await export(at: segments, for: request) {
                response
            } else if let response = await file(at: segments, for: request) {
                response
            } else {
                await respond(with: dataPage(at: segments, for: request))
            }
        case .documentation:
            await documentation(for: request)
        case .query:
            await respond(with: queryPage(for: request))
        case .asset(let name):
            if let response = fileResponse(name, to: request) {
                response
            } else {
                await respond(with: ProblemPage.unknownAddress)
            }
        case .preferences:
            if let response = keepPreferences(request) {
                response
            } else {
                await respond(with: ProblemPage.unknownForm)
            }
        case .signIn:
            await signIn(for: request)
        case .signOut:
            await signOut(for: request)
        case .keys:
            await keys(for: request)
        case .settings:
            await settings(for: request)
        case .importing:
            await importing(for: request)
        case .works:
            await listWorks(for: request)
        case .work(let id):
            await work(id, for: request)
        case .moved(let location):
            .redirect(to: location)
        case .unknown:
            await respond(with: ProblemPage.unknownAddress)
        case .malformed:
            await respond(with: ProblemPage.malformedAddress)
        }
    }

    /// The page of what a path names; of what is wrong, when it can't be shown.
    private func dataPage(at segments: [UTF8Key], for request: PageRequest) async -> any Page {
        let query = request.items
        do throws(StatusError) {
            return switch try DataPath(segments) {
            case .collection(let path): try await collectionPage(path, query: query, curl: curl(for: request))
            case .document(let path): try await documentPage(path, showsJSON: query["view"] == "json")
            }
        } catch {
            if error.code.httpStatus >= 500 { log(error) }
            var page = ProblemPage(error)
            // The way back leads through the path as far as it is known to be one.
            if (try? DataPath(segments)) != nil { page.chrome = PageChrome(at: segments) }
            return page
        }
    }

    private func documentPage(_ path: DocumentPath, showsJSON: Bool) async throws(StatusError) -> any Page {
        let position = context.store.position
        let document: Document
        do throws(StatusError) {
            document = try await GetDocument.call(.init(path: path), in: context).decoded()
        } catch {
            switch error.code {
            case .notFound: return MissingDocumentPage(path, subcollections: try await Subcollections(of: path, in: context))
            case .dataLoss:
                return DamagedDocumentPage(path, error, subcollections: try await Subcollections(of: path, in: context))
            default: throw error
            }
        }
        if showsJSON { return DocumentJSONPage(document, now: surroundings.now()) }
        let subcollections = try await Subcollections(of: path, in: context)
        return DocumentFieldsPage(
            document,
            subcollections: subcollections,
            live: LiveView(path, since: position),
            now: surroundings.now()
        )
    }

    private func fileResponse(_ name: UTF8Key, to request: PageRequest) -> PageResponse? {
        guard let file = assets.files[name] else { return nil }
        return .file(
            file,
            isCurrent: request.items["v"] == UTF8Key(file.tag.digits),
            isKnown: request.knownTags.map(file.tag.isListed) ?? false
        )
    }

    /// The collections at the top, as far as a page has room for them; nil where they are not for the caller, or can't be read: pages
    /// are of use without them.
    var roots: CollectionPage? {
        get async {
            await unlessRefused { () async throws(StatusError) in
                try await ListCollections.call(.init(pageSize: PageChrome.rootLimit), in: context)
            }
        }
    }

    /// Puts a page into its frame and renders it.
    func respond(with page: some Page) async -> PageResponse {
        await respond(with: page, beside: roots)
    }

    /// Puts a page into its frame and renders it.
    ///
    /// - Parameter roots: The collections at the top.
    func respond(with page: some Page, beside roots: CollectionPage?) async -> PageResponse {
        var page = page
        let nonce = surroundings.nonce()
        page.chrome.nonce = nonce
        page.chrome.styleSheetURLs = StaticFiles.Asset.styleSheets.map(assets.files.url)
        page.chrome.scriptURL = assets.files.url(of: .script)
        page.chrome.liveScriptURL = assets.files.url(of: .liveScript)
        page.chrome.editScriptURL = assets.files.url(of: .editScript)
        page.chrome.keyScriptURL = assets.files.url(of: .keys)
        page.chrome.logoURL = assets.files.url(of: .logo)
        page.chrome.pageURL = pageURL
        page.chrome.preferences = preferences
        page.chrome.visit = visit
        page.chrome.account = Account(visit.visitor, keys: context.keys)
        if let roots { page.chrome.setRoots(roots) }
        let response = PageResponse.page(
            assets.templates.render(page, with: type(of: page).template),
            status: page.status,
            language: preferences.language,
            nonce: nonce
        )
        return visit.flash == nil ? response : response.settingCookie(Flash.removal)
    }

    /// What a page can do without: not everybody may have it. Where it can't be had for another reason, that is logged.
    func unlessRefused<Result>(_ read: () async throws(StatusError) -> Result) async -> Result? {
        do throws(StatusError) {
            return try await read()
        } catch {
            if error.code.httpStatus >= 500 { log(error) }
            return nil
        }
    }

    func log(_ error: StatusError) {
        log(error, id: nil)
    }

    /// Logs an error, and gives what of it may be told: of a failure of Hearth itself nothing but the ID of the log's entry.
    func logged(_ error: StatusError) -> StatusError {
        let id = error.code == .internal ? UnexpectedFailure.newErrorID() : nil
        log(error, id: id)
        return id.map { StatusError(.internal, "The server failed; its log has the reason under the error.id \($0).") } ?? error
    }

    private func log(_ error: StatusError, id: String?) {
        var metadata: Logger.Metadata = [
            "error": "\(error)", "cause": "\(error.cause.map(String.init(describing:)) ?? "none")",
        ]
        metadata["error.id"] = id.map { "\($0)" }
        logger.error("A page can't be shown as it should", metadata: metadata)
    }
}
