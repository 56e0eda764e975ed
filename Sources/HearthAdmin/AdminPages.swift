import Concurrency
package import Cryptography
import DocumentModel
import DocumentStore
import HTTPTypes
package import HearthAPI
import JSONRPC
package import Logging
import UTF8Text

/// The administration pages, a server-rendered user interface for browsing and editing the databases.
///
/// ```swift
/// let pages = AdminPages(
///     context: context,
///     assets: try PageAssets(.find()),
///     uploadFolder: folder,
///     formSecret: secret,
///     logger: logger
/// )
/// let module = AdminModule(pages)
/// ```
///
/// The path of a page mirrors the path of the resource it shows: `/admin/data/books/hitchhiker`. Every page works without
/// JavaScript. Pages read and write through the service's methods with the caller's rights, and never access files.
package struct AdminPages: Sendable {
    /// The system context of the default database.
    let context: ServiceContext
    let dependencies: Dependencies
    let environment: PageEnvironment
    private let reference = APIReference()
    /// Executes the calls that are sent from the API reference.
    let calls: RPCServer<ServiceContext>
    private let logger: Logger
    /// Limits the rate of failed sign-ins from each network.
    private let failedSignIns = FailedAttemptLimiter(limit: 10)
    /// The secrets of API keys that were just created.
    private let oneTimeSecrets = OneTimeSecrets()
    let uploads: UploadStore
    let jobRunner: JobRunner
    private let imageOrigins = ImageOriginSetting()

    /// The values that tests replace: clock, randomness and the duration of a failed sign-in.
    struct Dependencies: Sendable {
        var now: @Sendable () -> Timestamp = Timestamp.current
        var nonce: @Sendable () -> String = RandomToken.make
        /// The key from which CSRF tokens are derived.
        var csrfSecret: SymmetricKey
        /// The minimum duration of a failed sign-in, so that its timing reveals nothing about the key.
        var failedSignInDuration = Duration.milliseconds(500)
    }

    /// Creates the pages for the databases of a context.
    ///
    /// - Parameters:
    ///   - uploadFolder: The folder in which uploaded files are created. They are unlinked immediately.
    ///   - sharedJobs: The jobs of all servers of an engine; `nil` with a data folder.
    ///   - formSecret: The secret by which the server recognizes its forms, and those of other servers with the same secret.
    package init(
        context: ServiceContext,
        assets: PageAssets,
        uploadFolder: String,
        sharedJobs: SharedJobs? = nil,
        formSecret: SymmetricKey,
        logger: Logger
    ) {
        self.init(
            context: context,
            assets: assets,
            uploads: UploadStore(folder: uploadFolder),
            jobRunner: JobRunner(logger: logger, shared: sharedJobs),
            logger: logger,
            dependencies: Dependencies(csrfSecret: formSecret)
        )
    }

    init(
        context: ServiceContext,
        assets: PageAssets,
        uploads: UploadStore,
        jobRunner: JobRunner,
        logger: Logger,
        dependencies: Dependencies
    ) {
        (self.uploads, self.jobRunner) = (uploads, jobRunner)
        self.context = context
        self.dependencies = dependencies
        self.logger = logger
        environment = PageEnvironment(
            assets: assets,
            errors: PageErrorLog(logger: logger),
            clock: dependencies.now,
            nonce: dependencies.nonce
        )
        calls = RPCServer(
            limits: DocumentationController.callLimits(context.server.limits.rpc),
            responseBudget: MemoryBudget(
                limit: DocumentationController.responseBudgetBytes,
                smallReservationBytes: RPCResponseBody.smallResponseBytes,
                timeout: .seconds(2)
            ),
            metrics: context.server.metrics.calls,
            logger: logger
        )
    }

    /// Returns the response to a request.
    func response(to http: PageRequest) async -> PageResponse {
        let request = AdminRequest(http, context: context, environment: environment, secret: dependencies.csrfSecret)
        return await Translations.$current.withValue(environment.assets.catalog[request.preferences.language]) {
            await ImageOrigins.$current.withValue(imageOrigins.current) { await respondInDatabase(to: request) }
        }
    }

    /// Sets the origins whose images pages show as thumbnails.
    package func allowImages(from origins: [String]) {
        imageOrigins.current = ImageOrigins(origins)
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
    private func respondInDatabase(to request: AdminRequest) async -> PageResponse {
        let path = request.http.path
        do throws(StatusError) {
            let address = try DatabaseURLPrefix(rawPath: path)
            guard let database = address.database else {
                return await respond(to: request, at: AdminRoute(rawPath: path))
            }
            if database == context.defaultDatabase {
                return .redirect(to: address.path + (request.http.rawQuery.map { "?" + $0 } ?? ""))
            }
            if request.principal.needsSignIn { return await session(for: request).requireSignIn() }
            let inDatabase = try await request.inDatabase(database)
            return await AdminURL.$database.withValue(database) {
                await respond(to: inDatabase, at: AdminRoute(rawPath: address.path))
            }
        } catch {
            return await request.respond(to: error)
        }
    }

    private func respond(to request: AdminRequest, at route: AdminRoute) async -> PageResponse {
        let methods = route.methods(with: request.query)
        if route.isKnown, !methods.contains(request.method) {
            if request.method == .options { return .options(allowing: methods) }
            if !request.principal.needsSignIn {
                return await request.respond(with: ErrorPage.methodNotAllowed).allowing(methods)
            }
        }
        if request.principal.needsSignIn, !route.isPublic { return await session(for: request).requireSignIn() }
        if request.query.isMalformed { return await request.respond(with: ErrorPage.malformedURL) }
        return switch route {
        case .overview where request.query["new"] != nil: await EditingController(request: request).newCollection()
        case .overview where request.query["load"] != nil: await OverviewController(request: request).loadExamples()
        case .overview: await OverviewController(request: request).show()
        case .data(let segments): await DataRouter(request: request, jobRunner: jobRunner).respond(at: segments)
        case .documentation:
            await DocumentationController(request: request, reference: reference, calls: calls).respond()
        case .query: await QueryController(request: request).show()
        case .find: await FinderController(request: request).respond()
        case .asset(let name): await AssetController(request: request).show(name)
        case .preferences: await PreferencesController(request: request).save()
        case .signIn: await session(for: request).signIn()
        case .signOut: await session(for: request).signOut()
        case .keys: await KeysController(request: request, secrets: oneTimeSecrets).respond()
        case .databases: await DatabasesController(request: request).respond()
        case .activity: await ActivityController(request: request).show()
        case .slowCalls: await ActivityController(request: request).showSlowCalls()
        case .log: await ActivityController(request: request).showLog()
        case .backups: await BackupsController(request: request, jobRunner: jobRunner).respond()
        case .settings: await SettingsController(request: request).respond()
        case .rules: await RulesController(request: request).respond()
        case .rulesPlayground: await PlaygroundController(request: request).respond()
        case .import: await ImportController(request: request, uploads: uploads, jobRunner: jobRunner).respond()
        case .jobs: await JobsController(request: request, jobRunner: jobRunner).list()
        case .job(let id): await JobsController(request: request, jobRunner: jobRunner).show(id)
        case .moved(let location): .redirect(to: location)
        case .unknown: await request.respond(with: ErrorPage.notFound)
        case .malformed: await request.respond(with: ErrorPage.malformedURL)
        }
    }

    private func session(for request: AdminRequest) -> SessionController {
        SessionController(
            request: request,
            failedSignIns: failedSignIns,
            failedSignInDuration: dependencies.failedSignInDuration,
            logger: logger
        )
    }
}
