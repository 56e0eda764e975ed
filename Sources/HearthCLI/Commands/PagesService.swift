import HearthAdmin
import ServiceLifecycle

/// Has what was begun in the browser end with the server, and not be cut off in the middle.
struct PagesService: Service {
    let pages: AdminPages

    func run() async throws {
        await cancelWhenGracefulShutdown { await pages.follow() }
        await pages.close()
    }
}
