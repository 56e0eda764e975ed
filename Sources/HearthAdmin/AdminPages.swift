import Crypto
import DocumentModel
import DocumentStore
import HTTPTypes
package import HearthAPI
import JSONRPC
package import Logging
import StrictJSON

/// The administration pages, a server-rendered user interface for browsing and editing the databases.
///
/// ```swift
/// let pages = AdminPages(context: context, assets: try PageAssets(.find()), logger: logger)
/// pages.addRoutes(to: router, streams: streams)
/// ```
///
/// The path of a page mirrors the path of the resource it shows: `/admin/data/books/hitchhiker`. Every page works without
/// JavaScript. Pages read and write through the service's methods with the caller's rights, and never access files.
package struct AdminPages: Sendable {
    private(set) var context: ServiceContext
    private var preferences = Preferences(cookies: Cookies([]), acceptLanguage: nil)
    private var pageURL = AdminURL.overview
    let reference = APIReference()
    /// Executes the calls that are sent from the API reference.
    let calls: RPCServer<ServiceContext>
    let assets: PageAssets
    let logger: Logger
    let dependencies: Dependencies
    /// Rate limiter of failed sign-ins by network.
    let failedSignIns = FailedAttemptLimiter(limit: 10)
    /// The secrets of API keys that were just created.
    let oneTimeSecrets = OneTimeSecrets()
    let uploads = UploadStore()
    let jobRunner: JobRunner
    /// The state of the request that is being handled.
    private(set) var scope = RequestScope()

    /// The values that tests replace: clock, randomness, timeouts and the upload folder.
    struct Dependencies: Sendable {
        var now: @Sendable () -> Timestamp = Timestamp.current
        var nonce: @Sendable () -> String = RandomToken.make
        /// The key from which CSRF tokens are derived.
        var csrfSecret = SymmetricKey(size: .bits256)
        /// The minimum duration of a failed sign-in, so that its timing reveals nothing about the key.
        var failedSignInDuration = Duration.milliseconds(500)
        /// How long the response to a form waits for the job that it started before it redirects to the job's page.
        var jobWaitTime = Duration.seconds(2)
        /// The folder of uploaded files.
        var uploadFolder: String
    }

    /// Creates the pages for the databases of a context.
    ///
    /// - Parameter uploadFolder: The folder in which uploaded files are created. They are unlinked at once.
    package init(context: ServiceContext, assets: PageAssets, uploadFolder: String, logger: Logger) {
        let dependencies = Dependencies(uploadFolder: uploadFolder)
        self.init(context: context, assets: assets, logger: logger, dependencies: dependencies)
    }

    init(context: ServiceContext, assets: PageAssets, logger: Logger, dependencies: Dependencies) {
        self.context = context
        self.assets = assets
        calls = RPCServer(
            limits: Self.callLimits(context.server.limits.rpc),
            responseBudget: ResponseBudget(limit: Self.responseBudgetBytes, timeout: .seconds(2)),
            logger: logger
        )
        self.logger = logger
        self.dependencies = dependencies
        jobRunner = JobRunner(logger: logger)
    }

    /// Returns the response to a request.
    func response(to request: PageRequest) async -> PageResponse {
        var pages = self
        pages.context = context.calling(as: request.principal.caller)
        pages.scope = RequestScope(request, secret: dependencies.csrfSecret, nonce: dependencies.nonce)
        pages.preferences = Preferences(cookies: Cookies(request.cookies), acceptLanguage: request.acceptLanguage)
        pages.pageURL = request.pathAndQuery
        return await Translations.$current.withValue(assets.catalog[pages.preferences.language]) { [pages] in
            await pages.respondInDatabase(to: request)
        }
    }

    /// Removes expired uploads every minute until the task is cancelled.
    package func runMaintenance() async {
        while (try? await Task.sleep(for: .seconds(60))) != nil { uploads.removeExpired() }
    }

    /// Cancels running jobs after their current batch, and discards all uploads.
    package func shutDown() async {
        await jobRunner.shutDown()
        uploads.removeAll()
    }
}

extension AdminPages {
    /// Handles a request in the database that its path names.
    private func respondInDatabase(to request: PageRequest) async -> PageResponse {
        do throws(StatusError) {
            let address = try DatabaseURLPrefix(rawPath: request.path)
            guard let database = address.database else {
                return await respond(to: request, at: AdminRoute(rawPath: request.path))
            }
            if database == context.defaultDatabase {
                return .redirect(to: address.path + (request.rawQuery.map { "?" + $0 } ?? ""))
            }
            if scope.principal.needsSignIn { return await requireSignIn(for: request) }
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
        let methods = route.methods(with: request.query)
        if route.isKnown, !methods.contains(request.method) {
            if request.method == .options { return .options(allowing: methods) }
            if !scope.principal.needsSignIn { return await respond(with: ErrorPage.methodNotAllowed).allowing(methods) }
        }
        if scope.principal.needsSignIn, !route.isPublic { return await requireSignIn(for: request) }
        if request.query.isMalformed { return await respond(with: ErrorPage.malformedURL) }
        return switch route {
        case .overview where request.query["new"] != nil: await newCollection(for: request)
        case .overview: await overview(for: request)
        case .data(let segments): await data(at: segments, for: request)
        case .documentation: await documentation(for: request)
        case .query: await respond(with: queryPage(for: request))
        case .asset(let name): await asset(name, for: request)
        case .preferences: await savePreferences(request)
        case .signIn: await signIn(for: request)
        case .signOut: await signOut(for: request)
        case .keys: await keys(for: request)
        case .settings: await settings(for: request)
        case .import: await importDocuments(for: request)
        case .jobs: await jobs(for: request)
        case .job(let id): await job(id, for: request)
        case .moved(let location): .redirect(to: location)
        case .unknown: await respond(with: ErrorPage.notFound)
        case .malformed: await respond(with: ErrorPage.malformedURL)
        }
    }

    private func asset(_ name: UTF8Key, for request: PageRequest) async -> PageResponse {
        guard let file = assets.files[name] else { return await respond(with: ErrorPage.notFound) }
        return .file(
            file,
            isVersioned: request.query["v"] == UTF8Key(file.tag.digits),
            isNotModified: request.ifNoneMatch.map(file.tag.matches) ?? false
        )
    }

    private func savePreferences(_ request: PageRequest) async -> PageResponse {
        guard let form = request.form.flatMap({ Form($0) }) else { return await respond(with: ErrorPage.invalidForm) }
        let response = PageResponse.seeOther(ReturnURL(form["next"]).url)
        return Preferences.cookies(for: form).reduce(response) { $0.settingCookie($1) }
    }
}

extension AdminPages {
    /// The root collections that every page lists; nil when the caller may not list them or they cannot be read.
    var roots: CollectionPage? {
        get async {
            await resultIfPermitted { () async throws(StatusError) in
                try await ListCollections.call(.init(pageSize: PageLayout.rootCollectionLimit), in: context)
            }
        }
    }

    /// Renders a page in the common layout.
    func respond(with page: some Page) async -> PageResponse {
        await respond(with: page, roots: roots)
    }

    /// Renders a page in the common layout.
    ///
    /// - Parameter roots: The root collections, when they were read already.
    func respond(with page: some Page, roots: CollectionPage?) async -> PageResponse {
        var page = page
        let nonce = dependencies.nonce()
        page.layout.nonce = nonce
        page.layout.styleSheetURLs = StaticFiles.Asset.styleSheets.map(assets.files.url)
        page.layout.scriptURL = assets.files.url(of: .script)
        page.layout.liveScriptURL = assets.files.url(of: .liveScript)
        page.layout.editScriptURL = assets.files.url(of: .editScript)
        page.layout.keyScriptURL = assets.files.url(of: .keys)
        page.layout.logoURL = assets.files.url(of: .logo)
        page.layout.pageURL = pageURL
        page.layout.preferences = preferences
        page.layout.scope = scope
        page.layout.account = AccountView(scope.principal, keys: context.keys)
        if let roots { page.layout.setRootCollections(roots) }
        let response = PageResponse.page(
            assets.templates.render(page, with: type(of: page).template),
            status: page.status,
            language: preferences.language,
            nonce: nonce
        )
        return scope.flash == nil ? response : response.settingCookie(Flash.expiredCookie)
    }

    /// Responds with an error page. Only server errors are logged.
    func respond(to error: StatusError) async -> PageResponse {
        if let page = await damagedDocumentPage(for: error) { return await respond(with: page) }
        if error.code.httpStatus >= 500 { log(error) }
        return await respond(with: ErrorPage(error))
    }

    /// Returns the page of the document whose damaged file caused the error; nil for any other error.
    private func damagedDocumentPage(for error: StatusError) async -> DamagedDocumentPage? {
        guard error.code == .dataLoss, error.file != nil, let path = error.path.flatMap({ try? DocumentPath($0) }),
            let subcollections = try? await SubcollectionList(of: path, in: context)
        else { return nil }
        return DamagedDocumentPage(path, error, subcollections: subcollections, status: .conflict)
    }

    /// Reads an optional part of a page; nil when the caller lacks the permission or the read fails. Server errors are logged.
    func resultIfPermitted<Result>(_ read: () async throws(StatusError) -> Result) async -> Result? {
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

    /// Logs an error and returns the error to send: an internal error is replaced by a reference to its log entry.
    func logAndRedact(_ error: StatusError) -> StatusError {
        let id = error.code == .internal ? UnexpectedError.newErrorID() : nil
        log(error, id: id)
        return id.map { StatusError(.internal, "Internal server error. The server log has the cause under error.id \($0).") }
            ?? error
    }

    private func log(_ error: StatusError, id: String?) {
        var metadata: Logger.Metadata = [
            "error": "\(error)", "cause": "\(error.cause.map(String.init(describing:)) ?? "none")",
        ]
        metadata["error.id"] = id.map { "\($0)" }
        logger.error("Admin page request failed", metadata: metadata)
    }
}
