import DocumentStore
import HearthAPI
import HearthHTTP
import ServiceLifecycle

/// Tells the service manager that a server works, as long as it does, and that it is stopping.
struct ServiceManagerService: Service {
    let manager: ServiceManager
    let context: ServiceContext
    /// Returns whether the process goes on after the server has stopped, and begins anew.
    let isRestarting: @Sendable () -> Bool

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Three times in each interval, so that one late message is no failure.
            let interval = manager.watchdogInterval.map { $0 / 3 } ?? Self.statusInterval
            repeat {
                let status = await status()
                await manager.notify(.alive, .status(status))
                try? await Task.sleep(for: interval)
            } while !Task.isCancelled
        }
        if isRestarting() {
            await manager.notify(.restarting, .status("Restarting"))
        } else {
            await manager.notify(.stopping, .status("Finishing requests"))
        }
    }

    private static let statusInterval = Duration.seconds(30)

    /// Returns the status, once all event loops have run and no commit is half applied: never if one of them hangs.
    private func status() async -> String {
        await HTTPServer.waitForEventLoops()
        // Any result will do: an error is reported to callers, and a restart would not cure it.
        _ = try? await context.store.safePosition()
        return await context.unreadinessReason.map { "Not ready: \($0)" } ?? "Serving requests"
    }
}
