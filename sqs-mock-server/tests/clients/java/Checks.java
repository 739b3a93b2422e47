import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/** Assertions of the tour. */
final class Checks {
    interface Call {
        void run() throws Exception;
    }

    static void equal(Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            throw new AssertionError("expected " + expected + ", got " + got);
        }
    }

    static <T> T only(List<T> things) {
        if (things.size() != 1) {
            throw new AssertionError("expected one element, got " + things);
        }
        return things.get(0);
    }

    /** Asserts that a call, also of an async client, fails with exactly this exception. Returns the exception. */
    static <E extends Throwable> E fails(Class<E> type, Call call) {
        try {
            call.run();
        } catch (Throwable thrown) {
            var cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
            if (cause.getClass() != type) {
                throw new AssertionError("expected " + type.getSimpleName() + ", got " + cause, cause);
            }
            return type.cast(cause);
        }
        throw new AssertionError("expected " + type.getSimpleName() + ", got a response");
    }

    /** Asserts that the server rejects a call with exactly this exception, code and status. Returns the message. */
    static <E extends AwsServiceException> String rejected(Class<E> type, String code, int status, Call call) {
        var error = fails(type, call);
        equal(code, error.awsErrorDetails().errorCode());
        equal(status, error.statusCode());
        equal(false, error.requestId() == null || error.requestId().isEmpty());
        return error.awsErrorDetails().errorMessage();
    }

    /** Waits for background work of the server: repeats the condition until it is true. */
    static void eventually(String what, BooleanSupplier condition) throws InterruptedException {
        for (var attempt = 0; attempt < 500; attempt++) {
            if (condition.getAsBoolean()) {
                return;
            }
            Thread.sleep(10);
        }
        throw new AssertionError("timeout: expected that " + what);
    }
}
