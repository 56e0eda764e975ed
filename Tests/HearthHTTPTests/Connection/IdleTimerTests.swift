import NIOCore
import NIOEmbedded
import Testing

@testable import HearthHTTP

/// The timer of idle connections.
@Suite struct IdleTimerTests {
    @Test
    func `A connection is idle when the timeout has passed since its last activity`() {
        let eventLoop = EmbeddedEventLoop()
        let timer = IdleTimer(.seconds(10))
        var isIdle = false
        timer.start(on: eventLoop) {
            false
        } onIdle: {
            isIdle = true
        }
        for _ in 0..<5 {
            eventLoop.advanceTime(by: .seconds(9))
            timer.recordActivity(at: eventLoop.now)
        }
        eventLoop.advanceTime(by: .milliseconds(9_999))
        #expect(!isIdle)
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(isIdle)
    }

    @Test
    func `A connection with a request is not idle`() {
        let eventLoop = EmbeddedEventLoop()
        let timer = IdleTimer(.seconds(10))
        var (isBusy, isIdle) = (true, false)
        timer.start(on: eventLoop) {
            isBusy
        } onIdle: {
            isIdle = true
        }
        eventLoop.advanceTime(by: .seconds(95))
        #expect(!isIdle)
        isBusy = false
        eventLoop.advanceTime(by: .seconds(10))
        #expect(isIdle)
    }
}
